"""What every domain shares: what is asked of whom, and how numbers are drawn.

A domain says where a clause quantifies; a scope, which part of it is drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from spec.notation import Grade
from spec.sizes import Reach

SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Scope:
    """What may be asked of an implementation: the part of a domain that is drawn from.

    answers: the kinds of problem it answers. conventions: what it chose where it had a choice.
    """

    dtype: str = "float64"
    answers: frozenset[str] = frozenset()
    conventions: Mapping[str, str] = field(default_factory=dict)
    rounding: Grade = "strict"
    reach: Reach = "standard"
