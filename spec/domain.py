"""What clauses of any kind quantify over, as far as it is shared."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from spec.attention.notation import Corner
from spec.attention.options import KINDS
from spec.notation import Grade
from spec.sizes import Reach

DRAWN_ENTRY_BY_ENTRY = 160  # a problem of at most so many numbers is


@dataclass(frozen=True)
class Scope:
    """What may be asked of an implementation: the part of a domain that is drawn from.

    answers: the kinds of problem it answers. corner: what causal means to it. turn: how a layer
    turns its queries and keys.
    """

    dtype: str = "float64"
    answers: frozenset[str] = KINDS
    corner: Corner = "top-left"
    rounding: Grade = "strict"
    reach: Reach = "standard"
    turn: str = "none"


SEEDS = st.integers(0, 2**32 - 1)
