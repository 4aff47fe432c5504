"""The kinds of subject that can be certified, and what certification knows about each.

    attention         an attention function                    A S V K B P M C H X T
    layer             attention between four projections       L
    sinusoidal, rotary, alibi      ways to show positions      R
    feed-forward      the other half of a block                F
    dropout           attention with dropout on its weights    D
    cache             decoding with a cache                    C16 and on

A new kind is a package of clauses with a record of its own, and a `Contract` here.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.certification.contracts.attention import ATTENTION
from spec.certification.contracts.contract import Contract
from spec.certification.contracts.layers import LAYER
from spec.certification.contracts.others import OTHERS
from spec.certification.contracts.positions import POSITIONS

__all__ = ["CONTRACTS", "Contract", "contract"]

CONTRACTS: Mapping[str, Contract] = {c.about: c for c in (ATTENTION, LAYER, *POSITIONS, *OTHERS)}


def contract(about: str) -> Contract:
    """What certification knows about a kind of subject."""
    return CONTRACTS[about]
