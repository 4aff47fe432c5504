"""Known bugs of layers: plausible wrong implementations, as there are of functions.

Each is a class of NumPy layers with torch's names, built from steps of which one is wrong:

    python -m spec certify spec.layer.mistakes.projections:splits_without_transposing
"""

from collections.abc import Mapping

from spec.layer.mistakes import (
    gradients,
    harmless,
    masks,
    objects,
    projections,
    single_sizes,
    softmax,
)
from spec.mistake import Mistake, catalogue

MISTAKES: Mapping[str, Mistake] = catalogue(
    projections, softmax, masks, single_sizes, gradients, objects, harmless
)
