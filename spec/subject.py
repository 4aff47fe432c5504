"""Subjects of tests: frozen records of plain functions of problems, some of which may be missing.

A function that is left out is not supported, so it is not tested. Each chapter has its own class of
record; `spec.record` makes one from an ordinary program of NumPy, torch or JAX.

Capabilities are of two kinds: additional results (gradients, weights, ...), and the kinds of
problem that are supported. The basic case needs none of the second kind.
"""

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn, Self

from spec.notation import GRADES, Grade

# A convention of all targets with a backward pass: "none" is for one that only does inference.
GRADIENTS = {"gradients": ("any", "none")}
# A convention of all targets of 16 bits: the rounding model that they are held to.
DETECTED = "detected"
ROUNDING = {"rounding": (DETECTED, *GRADES)}


class Over(BaseException):
    """No call of a target can be made any more, or believed: that fails no clause."""


class DeviceLost(Over):
    """The device of a target no longer responds: the process failed, not a single call."""


class Refused(Exception):
    """An implementation does not support a problem; the message names its exception.

    given: the shapes of the options that are arrays, by their names in the call.
    """

    given: Mapping[str, str] = MappingProxyType({})


class Raised(Refused):
    """The program itself raised an exception, other than NotImplementedError."""


class NoGradient(Refused):
    """The library has no gradient for an input, because the result does not depend on it."""


class Backward(StrEnum):
    """The capabilities that need a backward pass, or what is recorded for one.

    All chapters share them, in these words. A clause that needs any of them needs gradients.
    """

    GRADIENTS = "has gradients of q, k and v"
    BIAS_GRADIENT = "has a gradient of the additive mask"
    PARTIAL_GRADIENTS = "has gradients of a subset of the inputs"
    TRAINING = "can be run as training runs it"


def not_offered(*_: object, **__: object) -> NoReturn:
    """Stands for a function that an implementation does not have; raises NotImplementedError."""
    raise NotImplementedError("this clause used a capability that it did not declare in `needs`")


@dataclass(frozen=True)
class Subject:
    """A subject of tests: a record of functions of problems, without those it does not support.

    name: for people to read. origin: how a person imports it, as `module:name`, for a script that
        reproduces a failure.
    answers: the kinds of problem supported by the forward pass; `differentiates`, by the backward.
    dtypes: the supported formats. conventions: the choices that differ from the default. declares:
        the conventions that the program itself states, as `load` finds them.
    notes: what the reader of a certificate should know about how it was plugged in.
    multiples: what "lengths" and "widths" are multiples of, where not all are tested; likewise the
        lengths of a kind of problem.
    palette: for a target that compiles a program per shape, the numbers that stand for the tested
        shapes, by the number of the clause. compiled: how its library compiles it, or "".
    called: the backend and the layout in which it is called, where these were found by trying.
    lenses: those of its kind through which it is seen.

    Each class of records says what it is about, which function offers which capability, and which
    choices each convention has (default first).
    otherwise: a kind of problem in the usual basic case, and what replaces it there for a record
    that never supports it: for one that is always causal, causal problems.
    kinds: the kinds of problem that may be unsupported, and a test for each.
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
    called: Mapping[str, str] = field(default_factory=dict)
    lenses: tuple[str, ...] = ()

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
        """The names of its functions, including those that it leaves out."""
        return tuple(x.name for x in fields(self) if callable(getattr(self, x.name)))

    @functools.cached_property
    def offered(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that it has, by name."""
        functions = {name: getattr(self, name) for name in self.functions}
        return {name: f for name, f in functions.items() if f is not not_offered}

    def through(self, seen: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> Self:
        """The same subject, with each function replaced by what `seen` returns for it."""
        return self.but(**{name: seen(name, f) for name, f in self.offered.items()})

    def kinds_of(self, problem: Any) -> frozenset[str]:
        """The kinds of problem that `problem` belongs to; empty in the basic case."""
        return frozenset(kind for kind, asks in self.kinds.items() if asks(problem))

    def is_basic(self, problem: Any) -> bool:
        """Whether a problem is in the basic case, in which an exception is a failure."""
        return not self.kinds_of(problem)

    def counted(self, kinds: frozenset[str]) -> frozenset[str]:
        """These kinds of problem without those that are in this subject's basic case."""
        pairs = self.otherwise.items()
        return kinds - {usual if usual in self.answers else other for usual, other in pairs}

    def without_gradients(self) -> Self:
        """The same subject, as one that has no gradients."""
        names = [name for what, name in self.offering.items() if what in {*Backward}]
        return self.but(**dict.fromkeys(names, not_offered))

    @functools.cached_property
    def offers(self) -> frozenset[str]:
        """All capabilities that a clause may need, as far as this subject has them."""
        offered = self.offered
        return self.answers | {c for c, name in self.offering.items() if name in offered}

    @property
    def defaults(self) -> Mapping[str, str]:
        """Every convention, with its default choice."""
        return {name: first for name, (first, *_) in self.choices.items()}

    @property
    def grades(self) -> tuple[Grade, ...]:
        """The rounding models that it may be granted: any that is detected, or the declared one."""
        return tuple(x for x in GRADES if self.chosen.get("rounding", DETECTED) in (x, DETECTED))

    def grades_from(self, known: Grade) -> tuple[Grade, ...]:
        """The same, none stricter than one that it is known to need; or the declared one."""
        some = tuple(x for x in self.grades if GRADES.index(x) >= GRADES.index(known))
        return some or self.grades

    @property
    def chosen(self) -> Mapping[str, str]:
        """Every convention, with the choice of this subject."""
        return {**self.defaults, **self.conventions}


def posed(asked: Any) -> tuple[Any, ...]:
    """The problems that a call of a record's function gets: one, several, or that of a state."""
    several = asked if isinstance(asked, tuple) else (asked,)
    return tuple(getattr(one, "problem", one) for one in several)


def holding(tests: Mapping[Any, object]) -> frozenset[str]:
    """The words whose tests hold."""
    return frozenset(word for word, holds in tests.items() if holds)


def named(origin: str) -> Any:
    """The object that an origin names, if its module has been imported; else None."""
    place, _, name = origin.rpartition(":")
    module = sys.modules.get(Path(place).stem if place.endswith(".py") else place)
    if place.endswith(".py") and not _is_file(module, place):
        return None
    try:
        return functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return None


def _is_file(module: Any, place: str) -> bool:
    """Whether a module was read from this file, and not from another one of the same name."""
    return Path(getattr(module, "__file__", None) or "").resolve() == Path(place).resolve()
