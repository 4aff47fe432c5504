"""The domains of clauses for Hypothesis, which makes the choices and then simplifies them.

In your own tests, a problem is drawn like any other value:

    @given(problem=problems(CLAUSES["V2"].over, Scope("float32", KINDS)))
    def test_mine(problem): ...
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from spec.domain import Domain, Scope

T = TypeVar("T")


@dataclass(frozen=True)
class OneByOne:
    """Choices that Hypothesis makes and simplifies (`choices.Choices`)."""

    draw: st.DrawFn

    def pick(self, values: Sequence[T]) -> T:
        return self.draw(_one_of(tuple(values)))

    def turn(self, values: Sequence[T]) -> T:
        return self.pick(values)

    def vary(self, value: T, values: Sequence[T]) -> T:  # noqa: ARG002 - it picks from all anyway
        return value

    def seed(self, bits: int = 32) -> int:
        return self.draw(seeds(bits))

    def places(self, seed: int) -> int:
        return seed

    def octets(self, count: int) -> bytes:
        return self.draw(st.binary(min_size=count, max_size=count))


@st.composite
def problems(draw: st.DrawFn, domain: Domain, scope: Scope) -> Any:
    """Problems of a domain that lie in `scope`."""
    return domain.problem(OneByOne(draw), scope)


@cache
def seeds(bits: int = 32) -> st.SearchStrategy[int]:
    """Numbers below 2^bits, from which other numbers are drawn."""
    return st.integers(0, 2**bits - 1)


@cache
def _one_of(values: tuple[T, ...]) -> st.SearchStrategy[T]:
    """One of some values; cached, as building a strategy costs more than drawing from it."""
    return st.sampled_from(values)
