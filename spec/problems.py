"""Where the clauses quantify (interface first; the strategies follow)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from spec.implementation import KINDS, Capability
from spec.notation import Corner, Grade, Problem

Reach = Literal["quick", "standard", "deep"]


@dataclass(frozen=True)
class Scope:
    """What may be asked of an implementation: the part of a domain that is drawn from."""

    dtype: str = "float64"
    answers: frozenset[Capability] = KINDS
    corner: Corner = "top-left"
    rounding: Grade = "strict"
    reach: Reach = "standard"


@dataclass(frozen=True)
class Problems:
    """A domain of problems; `within` is the strategy for what an implementation answers."""

    needs: frozenset[Capability] = frozenset()

    def within(self, scope: Scope) -> st.SearchStrategy[Problem]:
        """The strategy: problems of this domain that lie in `scope`."""
        raise NotImplementedError


def problems() -> Problems:
    """The whole domain."""
    return Problems()
