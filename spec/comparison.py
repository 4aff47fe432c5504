"""How clauses compare numbers: a failed comparison raises `Violation` with its worst element.

    equal, at_most, at_least    within an error bound for each number
    same_bits, holds            exactly; and facts that are not numbers
    close                       returns whether numbers agree, and raises nothing

`measuring` collects the largest ratio of an error to its error bound.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spec.notation import Array, Call

EXACT = 17  # digits that tell any two numbers in float64 apart
LOOKED_AT = 512  # numbers: of larger arrays, only the worst element is shown


@dataclass(frozen=True)
class Place:
    """The element at which a comparison failed worst."""

    index: tuple[int, ...]
    got: float
    want: float
    budget: float

    @property
    def said(self) -> tuple[str, str]:
        """`got` and `want` as text, with as many digits as it takes to tell them apart."""
        return in_digits(self.got, self.want)


@dataclass(frozen=True, eq=False)
class Compared:
    """All arrays of a comparison, in float64 and of one shape.

    relation: how `got` should relate to `want`: "" for equal, "at most " or "at least ".
    """

    got: Array
    want: Array
    within: Array
    relation: str = ""


class Violation(AssertionError):
    """An implementation failed a clause; `place` is the worst element, if numbers were compared.

    compared: what was returned, what was expected, and the error bound. relation: how the first
    should relate to the second: "" for equal, "at most " or "at least ".
    """

    def __init__(
        self,
        message: str,
        place: Place | None = None,
        compared: tuple[Array, ...] = (),
        relation: str = "",
    ) -> None:
        super().__init__(message)
        self.place, self.compared, self.relation = place, compared, relation

    @property
    def whole(self) -> Compared | None:
        """The numbers that were compared, if at most LOOKED_AT; else None."""
        if not self.compared or self.compared[0].size > LOOKED_AT:
            return None
        got, want, within = (np.array(x, dtype=np.float64) for x in self.compared)
        return Compared(got, want, within, self.relation)


@dataclass
class Measure:
    """The largest error in the comparisons made so far, as a multiple of its error bound."""

    worst: float = 0.0


_measure: ContextVar[Measure | None] = ContextVar("measure", default=None)


@contextmanager
def measuring() -> Iterator[Measure]:
    """Collect the worst ratio of error to error bound over all comparisons inside."""
    measure = Measure()
    token = _measure.set(measure)
    try:
        yield measure
    finally:
        _measure.reset(token)


def equal(got: Array, want: ArrayLike, *, within: ArrayLike) -> None:
    """Raise `Violation` unless |got - want| <= within, everywhere.

    An infinite `want` requires exactly that infinity. An infinite bound claims nothing. Where all
    numbers are equal, here and below, `within` is not evaluated (`deferred`).
    """
    wanted = _spread(got, want)
    same = got == wanted
    if same.all():
        return
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - wanted))
    _judge(got, wanted, _spread(got, within), error)


def equal_in(names: Iterable[str], got: Any, want: Any, *, within: Any) -> None:
    """Raise `Violation` unless `equal` holds for each attribute of these names, in their order."""
    for name in names:
        equal(getattr(got, name), getattr(want, name), within=getattr(within, name))


def at_most(got: Array, bound: ArrayLike, *, within: ArrayLike) -> None:
    """Raise `Violation` unless got <= bound + within, everywhere."""
    limit = _spread(got, bound)
    inside = got <= limit
    if inside.all():
        return
    with np.errstate(invalid="ignore"):
        error = np.where(inside, 0.0, got - limit)
    _judge(got, limit, _spread(got, within), error, relation="at most ")


def at_least(got: Array, bound: ArrayLike, *, within: ArrayLike) -> None:
    """Raise `Violation` unless got >= bound - within, everywhere."""
    limit = _spread(got, bound)
    inside = got >= limit
    if inside.all():
        return
    with np.errstate(invalid="ignore"):
        error = np.where(inside, 0.0, limit - got)
    _judge(got, limit, _spread(got, within), error, relation="at least ")


def same_bits(got: Array, want: Array) -> None:
    """Raise `Violation` unless every number is the same, NaN included.

    The sign of a zero may differ: zero times the content of a masked key has its sign.
    """
    wanted = _spread(got, want)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    _judge(got, wanted, np.zeros(got.shape), np.where(same, 0.0, np.inf), relation="exactly ")


def close(got: Array, want: Array, within: Array) -> bool:
    """Whether every number is within its error bound; NaN and infinities match only themselves."""
    return bool(near(got, want, within).all())


def near(got: Array, want: Array, within: Array) -> Array:
    """Which numbers are within their error bounds; NaN and infinities match only themselves."""
    with np.errstate(invalid="ignore"):
        found = np.isfinite(want) & (np.abs(got - want) <= within)
    return np.asarray(found | (got == want) | (np.isnan(got) & np.isnan(want)))


def in_digits(got: float, want: float, fewest: int = 9) -> tuple[str, str]:
    """Two numbers as text, with so many digits, or with more if only these tell them apart."""
    texts = ((f"{got:.{x}g}", f"{want:.{x}g}") for x in range(fewest, EXACT))
    exact = f"{got:.{EXACT}g}", f"{want:.{EXACT}g}"
    return next((x for x in texts if x[0] != x[1] or got == want), exact)


def holds(condition: bool, message: str) -> None:
    """Raise `Violation` with `message` unless `condition`: for facts that are not numbers."""
    if not condition:
        raise Violation(message)


def leaves_its_inputs_alone(call: Call) -> None:
    """Raise Violation unless no input was changed, and the result has memory of its own."""
    holds(not call.changed, f"the call wrote into its input {', '.join(call.changed)}")
    holds(not call.aliased, f"the output shares memory with the input {', '.join(call.aliased)}")
    holds(not call.reused, "a second call returned the memory of the first")


def _spread(got: Array, other: ArrayLike) -> Array:
    """`other` broadcast to the shape of `got`. Raises Violation if `got` has the wrong shape."""
    array = np.asanyarray(other)
    if array.shape == got.shape:
        return array
    try:
        return np.broadcast_to(array, got.shape)
    except ValueError:
        raise Violation(f"shape: got {got.shape}, want {array.shape}") from None


def _judge(got: Array, want: Array, budget: Array, error: Array, relation: str = "") -> None:
    if not got.size:
        return
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.asarray(error / budget)
    worst = int(np.argmax(ratio))
    if np.isnan(ratio.flat[worst]):  # 0 / 0 is no error, and a NaN exceeds every bound
        ratio = np.where(error == 0, 0.0, ratio)
        ratio = np.where(np.isnan(error), np.inf, np.where(np.isnan(ratio), 0.0, ratio))
        worst = int(np.argmax(ratio))
    measure = _measure.get()
    if measure is not None:
        measure.worst = max(measure.worst, float(ratio.flat[worst]))
    if ratio.flat[worst] > 1:
        index = tuple(int(x) for x in np.unravel_index(worst, got.shape))
        numbers = (float(x.flat[worst]) for x in (got, want, budget))
        place = Place(index, *numbers)
        was, wanted = place.said
        compared, bound = (got, want, budget), f"within {place.budget:.2g}"
        said = f"at {index}: got {was}, want {relation}{wanted} {bound}"
        raise Violation(said, place, compared, relation.removeprefix("exactly "))
