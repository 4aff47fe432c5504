"""Plausible wrong implementations of attention, a catalogue of temptations.

Each module holds the mistakes about one idea. A mistake replaces one step of the
right pipeline (spec.attention.mistakes.steps) or wraps the whole call, and is itself a
function of NumPy arrays that can be certified, and must not be:

    python -m spec certify spec.attention.mistakes.scaling:scales_by_model_width

Every clause names the mistakes that it must reject. A few mistakes are right
after all (`harmless`), and must be certified.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.attention.mistakes import (
    calls,
    causality,
    gradients,
    harmless,
    heads,
    idleness,
    masking,
    numbers,
    observers,
    scaling,
    softmax,
    sparsity,
    tiles,
)
from spec.attention.mistakes.making import Attention, AttentionMistake
from spec.mistake import catalogue

__all__ = ["MISTAKES", "MODULES", "Attention", "AttentionMistake"]

MODULES = (
    scaling,
    masking,
    idleness,
    causality,
    softmax,
    sparsity,
    tiles,
    heads,
    gradients,
    observers,
    numbers,
    calls,
    harmless,
)

MISTAKES: Mapping[str, AttentionMistake] = catalogue(*MODULES)
