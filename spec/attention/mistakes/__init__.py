"""Plausible wrong implementations of attention, a catalogue of temptations.

Each module holds the mistakes about one idea. A mistake replaces one of the right steps,
and is itself a function of NumPy arrays that can be certified, and must not be:

    python -m spec certify spec.attention.mistakes.scaling:scales_by_model_width

Every clause names the mistakes that it must reject. A few mistakes are right
after all (`harmless`), and must be certified.
"""

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
from spec.mistake import Mistake, catalogue

MISTAKES: Mapping[str, Mistake] = catalogue(
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
