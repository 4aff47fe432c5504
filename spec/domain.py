"""What every domain shares: what is asked of whom, and how numbers are drawn.

A domain says where a clause quantifies; a scope, which part of it is drawn from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st

from spec.notation import Grade
from spec.sizes import Reach

SEEDS = st.integers(0, 2**32 - 1)

Domain = TypeVar("Domain")
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Scope:
    """What may be asked of an implementation: the part of a domain that is drawn from.

    answers: the kinds of problem it answers. conventions: what it chose where it had a choice.
    multiples: of what number "lengths" and "widths" are, where not all are asked.
    """

    dtype: str = "float64"
    answers: frozenset[str] = frozenset()
    conventions: Mapping[str, str] = field(default_factory=dict)
    rounding: Grade = "strict"
    reach: Reach = "standard"
    multiples: Mapping[str, int] = field(default_factory=dict)


def strategy(
    problem: Callable[[Domain, st.DrawFn, Scope], Drawn],
) -> Callable[[Domain, Scope], st.SearchStrategy[Drawn]]:
    """A method that draws a problem of a domain, as one that returns the strategy for it."""
    drawn = st.composite(lambda draw, domain, scope: problem(domain, draw, scope))
    return lambda domain, scope: drawn(domain, scope)
