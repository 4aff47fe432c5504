"""Programs that show positions: functions, or classes whose objects are functions."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from spec.backends import Unsuitable
from spec.backends.calling import by_place, matched, named, plugged, told, unused
from spec.backends.library import Library, name_of
from spec.backends.results import read, refusing
from spec.backends.unknown import unknown
from spec.notation import Array
from spec.subject import Subject

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "first": ("first", "offset", "start", "start_pos", "position_offset"),
    "positions": ("positions", "position_ids", "input_pos", "pos"),
    "base": ("base", "theta", "rope_theta"),
    "width": ("width", "rotary_dim", "rotary_width"),
    "dtype": ("dtype",),
    "slopes": ("slopes", "alibi_slopes"),
}


@dataclass(frozen=True)
class Made:
    """A target: a function, or a class whose objects are functions, one for each width.

    options: our name of an option -> the function's name of it, of those that it takes.
    """

    target: Callable[..., Any]
    library: Library
    options: Mapping[str, str]
    kept: dict[tuple[int, str], Callable[..., Any]] = field(default_factory=dict)

    @contextmanager
    def running(self, dtype: str) -> Iterator[None]:
        """The library's context; an exception inside becomes Refused."""
        with self.library.quiet(dtype), refusing():
            yield

    def read(self, result: Any, shape: tuple[int, ...], dtype: str, what: str) -> Array:
        """The numbers of a result, once it is known to be what was wanted. Raises Violation."""
        return read(self.library, result, shape, dtype, what)

    def named(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The options that are asked for and taken, as the function calls them."""
        return {self.options[ours]: x for ours, x in asked.items() if ours in self.options}

    def function(self, width: int, dtype: str) -> Callable[..., Any]:
        """The function for arrays of this width; an object of a class is kept, as models do.

        A torch module moves to where its arrays will be.
        """
        if not isinstance(self.target, type):
            return self.target
        if (width, dtype) not in self.kept:
            self.kept[width, dtype] = made = self.target(width)
            if hasattr(made, "to") and self.library.name == "torch":
                made.to(device=self.library.device, dtype=self.library.format(dtype))
        return self.kept[width, dtype]

    def attribute(self, name: str) -> Callable[..., Any] | None:
        """A function that is an attribute of a function; in a class such names are its methods."""
        found = None if isinstance(self.target, type) else getattr(self.target, name, None)
        return found if callable(found) else None

    @property
    def differentiates(self) -> bool:
        """Whether there are gradients: the function's own, or those of its library."""
        return self.library.differentiate is not None or self.attribute("backward") is not None


def made(
    record: type[Subject],
    target: Callable[..., Any],
    leading: int,
    answers: Mapping[str, tuple[str, ...]],
    *,
    conventions: Mapping[str, str] | None = None,
    **how: Any,
) -> tuple[Made, dict[str, Any]]:
    """A target with `leading` arguments and some options, ready to be called.

    And what its record says of it. answers: for each option, the kinds of problem that cannot be
    put without. how: as `spec.backends.calling.plugged` has it. conventions: those that are
    declared, else those that the target carries as an attribute.
    Raises Unsuitable, in one line: what is no function; too few parameters, one that is required
    and unknown, or one that is an option of another kind of program; an unknown choice, or an
    unknown library. A result of the wrong shape or dtype is a Violation when it comes, and an
    exception a Refused.
    """
    if not callable(target):
        raise Unsuitable(f"{type(target).__name__} is no function and no class of functions")
    library, facts = plugged(target, **how)
    chosen = conventions or getattr(target, "conventions", {})
    for name, choices in record.choices.items():
        if chosen.get(name, choices[0]) not in choices:
            raise unknown(name, chosen[name], choices)
    options, alone = _options(target, leading, answers)
    put = frozenset().union(*(answers[option] for option in options))
    kinds = record.answers - frozenset().union(*answers.values()) | put
    facts |= {"conventions": chosen, "answers": kinds, "differentiates": kinds}
    facts["notes"] = named(alone)
    return Made(target, library, options), facts


def _options(
    target: Any, leading: int, wanted: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Our name of an option -> the target's name of it, after `leading` arguments; what is left."""
    name, is_class = name_of(target), isinstance(target, type)
    parameters = told(getattr(target, "forward", target.__call__) if is_class else target)
    if parameters is None:  # as some that are written in C
        raise Unsuitable(f"{name} does not tell its parameters")
    parameters = dict([*parameters.items()][is_class:])  # without self
    first = by_place(parameters, leading)
    if len(first) < leading:
        wants = f"want at least {leading}"
        raise Unsuitable(f"{name} takes {len(first)} positional parameters, {wants}")
    left = {n: p for n, p in parameters.items() if n not in first}
    found = matched(name, left, SPELLINGS)
    if set(found) - set(wanted):
        raise Unsuitable(f"{name} takes {', '.join(found)}, want {', '.join(wanted)} or less")
    return found, unused(target, left, found.values())
