"""What a clause is, and how it compares numbers.

A comparison raises `Violation` and returns nothing: there is no boolean to
forget. Shapes come before values, NaN is wrong wherever it is not asked for,
and what is reported is the place where the error is the largest multiple of
its budget.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from spec.implementation import Subject
from spec.notation import Array

Check = Callable[[Any, Any], None]  # of a subject and a problem of its kind
Force = Literal["must", "should"]


class Domain(Protocol):
    """Where a clause quantifies: problems of one kind, drawn as far as they are answered."""

    @property
    def about(self) -> str: ...
    @property
    def needs(self) -> frozenset[str]: ...
    def within(self, scope: Any) -> st.SearchStrategy[Any]:
        """The strategy for the problems of this domain that lie in `scope`."""


@dataclass(frozen=True)
class Place:
    """Where a comparison failed worst."""

    index: tuple[int, ...]
    got: float
    want: float
    budget: float


class Violation(AssertionError):
    """An implementation broke a clause; `place` tells where, when numbers were compared."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place


@dataclass
class Measure:
    """The largest error that the comparisons made so far have seen, in units of its budget."""

    worst: float = 0.0


_measure: ContextVar[Measure | None] = ContextVar("measure", default=None)


@contextmanager
def measuring() -> Iterator[Measure]:
    """Collect the worst ratio of error to budget of every comparison inside."""
    measure = Measure()
    token = _measure.set(measure)
    try:
        yield measure
    finally:
        _measure.reset(token)


def equal(got: Array, want: ArrayLike, *, within: ArrayLike) -> None:
    """Raise `Violation` unless |got - want| <= within, everywhere.

    An infinite `want` asks for exactly that infinity. An infinite budget is no claim.
    """
    wanted, budget = _spread(got, want), _spread(got, within)
    with np.errstate(invalid="ignore"):
        error = np.where(got == wanted, 0.0, np.abs(got - wanted))
    _judge(got, wanted, budget, error)


def at_most(got: Array, bound: ArrayLike, *, within: ArrayLike) -> None:
    """Raise `Violation` unless got <= bound + within, everywhere."""
    limit, budget = _spread(got, bound), _spread(got, within)
    with np.errstate(invalid="ignore"):
        error = np.where(got <= limit, 0.0, got - limit)
    _judge(got, limit, budget, error, relation="at most ")


def at_least(got: Array, bound: ArrayLike, *, within: ArrayLike) -> None:
    """Raise `Violation` unless got >= bound - within, everywhere."""
    limit, budget = _spread(got, bound), _spread(got, within)
    with np.errstate(invalid="ignore"):
        error = np.where(got >= limit, 0.0, limit - got)
    _judge(got, limit, budget, error, relation="at least ")


def same_bits(got: Array, want: Array) -> None:
    """Raise `Violation` unless every number is the same, NaN included.

    The sign of a zero may differ: zero times a forbidden number has the number's sign.
    """
    wanted = _spread(got, want)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    _judge(got, wanted, np.zeros(got.shape), np.where(same, 0.0, np.inf), relation="exactly ")


def holds(condition: bool, message: str) -> None:
    """Raise `Violation` with `message` unless `condition`: for facts that are not numbers."""
    if not condition:
        raise Violation(message)


def _spread(got: Array, other: ArrayLike) -> Array:
    """`other` in the shape of `got`; a `got` that would have to grow has the wrong shape."""
    array = np.asarray(other)
    try:
        return np.broadcast_to(array, got.shape)
    except ValueError:
        raise Violation(f"shape: got {got.shape}, want {array.shape}") from None


def _judge(got: Array, want: Array, budget: Array, error: Array, relation: str = "") -> None:
    if not got.size:
        return
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(error == 0, 0.0, error / budget)
    ratio = np.where(np.isnan(error), np.inf, np.where(np.isnan(ratio), 0.0, ratio))
    worst = int(np.argmax(ratio))
    measure = _measure.get()
    if measure is not None:
        measure.worst = max(measure.worst, float(ratio.flat[worst]))
    if ratio.flat[worst] > 1:
        index = tuple(int(x) for x in np.unravel_index(worst, got.shape))
        numbers = (float(x.flat[worst]) for x in (got, want, budget))
        place = Place(index, *numbers)
        wanted = f"{relation}{place.want:.9g} within {place.budget:.2g}"
        raise Violation(f"at {index}: got {place.got:.9g}, want {wanted}", place)


@dataclass(frozen=True)
class Evidence:
    """Why a clause is believed: a proof, or an exact run of the definition, and its control.

    function: returns what the theorem says is zero. control: the same with a
    fault in it, so not zero. sizes: in words, what the proof quantifies over.
    """

    grade: Literal["proved", "proved at sizes", "checked exactly"]
    function: Callable[[], Any]
    control: Callable[[], Any]
    sizes: str


@dataclass(frozen=True, eq=False)
class Clause:
    """A numbered sentence of the specification that can be run."""

    number: str
    check: Check
    over: Domain
    needs: frozenset[str]
    catches: frozenset[str]
    proof: Evidence | None = None
    force: Force = "must"
    effort: int = 1  # how many times the usual number of examples it is worth

    @property
    def name(self) -> str:
        return self.check.__name__

    @property
    def id(self) -> str:
        return f"{self.number}-{self.name}"

    @property
    def section(self) -> str:
        """The letter of the section, which opens the number."""
        return self.number.rstrip("0123456789")

    @property
    def sentence(self) -> str:
        """The claim in words: the first paragraph of the docstring."""
        return " ".join(self._paragraphs()[0].split())

    @property
    def formula(self) -> str:
        """The claim in symbols: the second paragraph of the docstring."""
        second = self._paragraphs()[1:2]
        return "\n".join(line.strip() for part in second for line in part.splitlines())

    @property
    def text(self) -> str:
        """The whole docstring, its formula indented."""
        sentence, _, *why = (*self._paragraphs(), "")
        formula = "\n".join(f"    {line}" for line in self.formula.splitlines())
        return "\n\n".join(part for part in (sentence, formula, *why) if part)

    @property
    def evidence(self) -> str:
        """How well the claim is founded: a grade, and what it quantifies over."""
        return "checked" if self.proof is None else f"{self.proof.grade} ({self.proof.sizes})"

    def _paragraphs(self) -> list[str]:
        return inspect.cleandoc(self.check.__doc__ or self.name).split("\n\n")

    @property
    def about(self) -> str:
        """The kind of subject that it speaks of."""
        return self.over.about

    def binds(self, subject: Subject) -> bool:
        """Whether the clause says anything about this subject."""
        return self.about == subject.about and self.needs <= subject.offers


def clause(
    number: str,
    *,
    over: Domain,
    needs: Iterable[str] = (),
    catches: Iterable[str],
    proof: Evidence | None = None,
    force: Force = "must",
    effort: int = 1,
) -> Callable[[Check], Clause]:
    """Turn a function into the clause `number`.

    `catches` names the mistakes of `spec.mistakes` that the clause must reject.
    What the domain cannot do without (a causal problem, a mask) is needed as well.
    """
    return lambda check: Clause(
        number, check, over, frozenset(needs) | over.needs, frozenset(catches), proof, force, effort
    )
