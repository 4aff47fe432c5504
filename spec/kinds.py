"""The kinds of subject that can be certified, and what certification knows about each.

    attention         an attention function                    A S V K B P M C H X T
    layer             attention between four projections       L
    sinusoidal, rotary, alibi      ways to show positions      R
    feed-forward      the other half of a block                F
    dropout           attention with dropout on its weights    D
    cache             decoding with a cache                    C16 and on

A new kind is a package of clauses with a record of its own, and a `Kind` here.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.attention.kind import ATTENTION
from spec.attention.notation import Problem
from spec.cache.notation import Problem as CacheProblem
from spec.certification.contracts.others import OTHERS
from spec.certification.contracts.positions import POSITIONS
from spec.dropout.notation import Problem as DropoutProblem
from spec.feed_forward.notation import Problem as FeedForwardProblem
from spec.kind import Kind
from spec.layer.kind import LAYER
from spec.layer.notation import LayerProblem
from spec.positions.alibi.notation import Problem as BiasProblem
from spec.positions.rotary.notation import Problem as RotaryProblem
from spec.positions.sinusoidal.notation import Problem as SinusoidalProblem

__all__ = ["KINDS", "Kind", "kind_of"]

KINDS: Mapping[str, Kind] = {c.about: c for c in (ATTENTION, LAYER, *POSITIONS, *OTHERS)}


def kind_of(about: str) -> Kind:
    """What certification knows about a kind of subject."""
    return KINDS[about]


PROBLEMS: Mapping[str, type] = {
    "attention": Problem,
    "layer": LayerProblem,
    "cache": CacheProblem,
    "sinusoidal": SinusoidalProblem,
    "rotary": RotaryProblem,
    "alibi": BiasProblem,
    "feed-forward": FeedForwardProblem,
    "dropout": DropoutProblem,
}
