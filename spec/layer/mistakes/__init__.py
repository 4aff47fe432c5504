"""Plausible wrong layers, a catalogue of temptations, as there is one of functions.

Each is a class of NumPy layers under torch's names, made of the right steps but for one:

    python -m spec certify spec.layer.mistakes.projections:splits_without_transposing
"""

from collections.abc import Mapping

from spec.layer.mistakes import gradients, harmless, masks, objects, projections, single_sizes
from spec.mistake import Mistake, catalogue

MISTAKES: Mapping[str, Mistake] = catalogue(
    projections, masks, single_sizes, gradients, objects, harmless
)
