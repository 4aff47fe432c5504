"""The record of an ordinary program that makes linear biases.

    linear_bias(bias)    bias(heads, queries, keys) gives (heads, queries, keys)

where the queries are the last of the keys; a parameter `first` is told how many keys come
before them. `slopes` (given slopes) and `dtype` are used where they are there, and so is
`bias.slopes(heads, dtype)`. A program without `dtype` is judged in the one that it returns.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from spec.backends import Unsuitable
from spec.backends.library import name_of
from spec.backends.results import watched
from spec.notation import Array, Call
from spec.positions.alibi.notation import KINDS, SIDES, LinearBias, Problem
from spec.positions.calling import Made, made, options_of
from spec.positions.record import Capability
from spec.subject import Refused, not_offered

OPTIONS = ("first", "slopes", "dtype")


def linear_bias(
    target: Callable[..., Any],
    *,
    name: str | None = None,
    backend: str | None = None,
    device: str = "cpu",
    dtypes: tuple[str, ...] | None = None,
    conventions: Mapping[str, str] | None = None,
    origin: str = "",
) -> LinearBias:
    """The record of a program that makes linear biases (Press et al. 2022, section 3).

    target: bias(heads, queries, keys) gives (heads, queries, keys), the queries being the last
        of the keys. Where they are parameters, it is given first (offset, start, ...), the
        number of keys before the queries, slopes (alibi_slopes), (heads), and dtype, as
        the library writes it. `bias.slopes(heads[, dtype])` shows the slopes, (heads).
    conventions: {"sides": "both"} for -m |i - j|; by default nothing is asked of keys that lie
        ahead, but that a mask can hide them. Else as the attribute `conventions` says.
    name, origin, backend, device, dtypes: as for
        `spec.positions.sinusoidal.plug.encoding`.
    Raises Unsuitable, in one line: what is no function, or a class; parameters that are required
    and that no problem has, or too few of them; unknown sides or library; a program without
    `dtype` that fails for one head, or returns no array. A bias of the wrong shape or dtype is a
    Violation when it comes, and an exception a Refused.
    """
    if inspect.isclass(target):
        raise Unsuitable(f"{name_of(target)} is a class, want a function of heads, queries, keys")
    chosen = conventions or getattr(target, "conventions", {})
    if chosen.get("sides", SIDES[0]) not in SIDES:
        raise Unsuitable(f"unknown sides {chosen['sides']!r}: choose from {', '.join(SIDES)}")
    ready = made(target, backend, device)
    seen = Seen(ready, options_of(ready, 3, OPTIONS))
    kinds = KINDS if "slopes" in seen.options else KINDS - {Capability.SLOPES}
    return LinearBias(
        name=name or name_of(target),
        bias=seen.bias,
        slopes=seen.slopes if ready.attribute("slopes") else not_offered,
        call=seen.watched,
        answers=kinds,
        differentiates=kinds,
        dtypes=dtypes or _dtypes(seen),
        conventions=chosen,
        origin=origin,
    )


@dataclass(frozen=True)
class Seen:
    """A function of sizes, seen as functions of a problem."""

    made: Made
    options: Mapping[str, str]

    def bias(self, problem: Problem) -> Array:
        """b (H, N, M)."""
        with self.made.running(problem.dtype):
            b = self.raw(problem)
            return self.made.read(b, problem.scores.shape, problem.dtype, "the bias")

    def watched(self, problem: Problem) -> Call:
        """The bias as its caller sees it."""

        def read(b: Any) -> Array:
            return self.made.read(b, problem.scores.shape, problem.dtype, "the bias")

        with self.made.running(problem.dtype):
            return watched(self.made.library, {}, lambda: self.raw(problem), read)

    def slopes(self, problem: Problem) -> Array:
        """m (H), as the program shows them."""
        show = self.made.attribute("slopes")
        assert show is not None
        takes = "dtype" in inspect.signature(show).parameters
        asked = {"dtype": self.made.library.format(problem.dtype)} if takes else {}
        with self.made.running(problem.dtype):
            m = show(problem.H, **asked)
            return self.made.read(m, (problem.H,), problem.dtype, "the slopes")

    def raw(self, problem: Problem) -> Any:
        """What the program returns."""
        asked: dict[str, Any] = {"first": problem.first}
        if "dtype" in self.options:
            asked["dtype"] = self.made.library.format(problem.dtype)
        if problem.asked is not None:
            asked["slopes"] = self.made.library.placed(problem.asked, problem.dtype)[1]
        named = {self.options[ours]: x for ours, x in asked.items() if ours in self.options}
        return self.made.target(problem.H, problem.N, problem.M, **named)


def _dtypes(seen: Seen) -> tuple[str, ...]:
    """All that the library has, or the one that a program without `dtype` returns."""
    arrays = seen.made.library
    if "dtype" in seen.options:
        return arrays.dtypes
    try:
        with seen.made.running("float64"):
            found = arrays.dtype_of(seen.made.target(1, 1, 1))
    except Refused as refusal:
        raise Unsuitable(f"{name_of(seen.made.target)} fails for one head: {refusal}") from None
    if found not in arrays.dtypes:
        raise Unsuitable(f"{name_of(seen.made.target)} returns no array of {arrays.name}: {found}")
    return (found,)
