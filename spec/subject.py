"""What is judged: a frozen record of plain functions on problems, and what it may leave out.

Leaving a function out declares that it is not offered. Each chapter has a record of its own;
`spec.record` makes one of an ordinary program of NumPy, torch or JAX.

Capabilities are of two kinds: what can be asked (gradients, weights, ...), and
the kinds of problem that are answered. The core needs none of the second.
"""

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self


class DeviceLost(BaseException):
    """The device of a target answers nobody any more: no failure of a call, but of the process."""


class Refused(Exception):
    """An implementation would not answer; the message names the exception that it raised."""


class NoGradient(Refused):
    """The library has no gradient by an input: what was returned does not come from it."""


class Backward(StrEnum):
    """The capabilities that take a backward pass, or what is recorded for one.

    All chapters share them, in these words; to ask for any is to ask for gradients.
    """

    GRADIENTS = "has gradients of q, k and v"
    BIAS_GRADIENT = "has a gradient of the additive mask"
    PARTIAL_GRADIENTS = "has gradients of a subset of the inputs"
    TRAINING = "can be run as training runs it"


def not_offered(*_: object, **__: object) -> NoReturn:
    """Stands for a function that an implementation does not have."""
    raise NotImplementedError("this clause used a capability that it did not declare in `needs`")


@dataclass(frozen=True)
class Subject:
    """What is judged: a record of plain functions on problems, and what it leaves out.

    name: what people call it. origin: how a person imports it, as `module:name`, for a script
        that repeats a failure.
    answers: the kinds of problem answered forward; `differentiates`, those answered backward.
    dtypes: the formats it takes. conventions: where it departs from the default. declares: those
        that the program says of itself, as `load` finds them.
    notes: what whoever reads its certificate should know of how it was plugged in.
    multiples: of what number "lengths" and "widths" are, where not all are asked; and the lengths
        of a kind of problem.
    palette: of one that compiles a program for each shape, what stands for the shapes that it is
        asked, by the number of the clause. compiled: by its library, in which way, if it is.

    Each kind of subject says what it is about, which of its functions offer a capability by being
    there, and the choices that conventions leave it, the default first.
    otherwise: what belongs to the core of nearly all, and what does instead for one that never
    answers it: of what is always causal, the causal problems.
    kinds: those of its problems that may be refused, and what tells each.
    """

    name: str
    _: KW_ONLY
    answers: frozenset[str] = frozenset()
    differentiates: frozenset[str] = frozenset()
    dtypes: tuple[str, ...] = ("float64", "float32")
    conventions: Mapping[str, str] = field(default_factory=dict)
    declares: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    notes: tuple[str, ...] = ()
    multiples: Mapping[str, int] = field(default_factory=dict)
    palette: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    compiled: str = ""

    about: ClassVar[str]
    offering: ClassVar[Mapping[str, str]] = {}
    kinds: ClassVar[Mapping[str, Callable[[Any], object]]] = {}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    otherwise: ClassVar[Mapping[str, str | None]] = {}

    def but(self, **changes: Any) -> Self:
        """The same subject, except for `changes`."""
        return replace(self, **changes)

    @functools.cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of its functions, of those that it leaves out as well."""
        return tuple(x.name for x in fields(self) if callable(getattr(self, x.name)))

    @functools.cached_property
    def offered(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that it has, by name."""
        functions = {name: getattr(self, name) for name in self.functions}
        return {name: f for name, f in functions.items() if f is not not_offered}

    def through(self, seen: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> Self:
        """The same subject, each function that it has being what `seen` makes of it."""
        return self.but(**{name: seen(name, f) for name, f in self.offered.items()})

    def kinds_of(self, problem: Any) -> frozenset[str]:
        """The kinds of problem that `problem` is; empty for the core."""
        return frozenset(kind for kind, asks in self.kinds.items() if asks(problem))

    def counted(self, kinds: frozenset[str]) -> frozenset[str]:
        """Kinds of problem as they count for this subject, whose core may be another one."""
        pairs = self.otherwise.items()
        return kinds - {usual if usual in self.answers else other for usual, other in pairs}

    @functools.cached_property
    def offers(self) -> frozenset[str]:
        """All that a clause may ask of it."""
        offered = self.offered
        return self.answers | {c for c, name in self.offering.items() if name in offered}

    @property
    def defaults(self) -> Mapping[str, str]:
        """Every convention, with the choice that is made unless another is declared."""
        return {name: first for name, (first, *_) in self.choices.items()}

    @property
    def chosen(self) -> Mapping[str, str]:
        """Every convention, with the choice that is made here."""
        return {**self.defaults, **self.conventions}


def posed(asked: Any) -> tuple[Any, ...]:
    """The problems that a function of a record is put: one, several, or that of a state."""
    several = asked if isinstance(asked, tuple) else (asked,)
    return tuple(getattr(one, "problem", one) for one in several)


def holding(tests: Mapping[Any, object]) -> frozenset[str]:
    """The words of which the test holds."""
    return frozenset(word for word, holds in tests.items() if holds)


def named(origin: str) -> Any:
    """What an origin names, if it has been imported; else None."""
    place, _, name = origin.rpartition(":")
    module = sys.modules.get(Path(place).stem if place.endswith(".py") else place)
    if place.endswith(".py") and not _is_file(module, place):
        return None
    try:
        return functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return None


def _is_file(module: Any, place: str) -> bool:
    """Whether a module was read from this file, and not from another of the same name."""
    return Path(getattr(module, "__file__", None) or "").resolve() == Path(place).resolve()
