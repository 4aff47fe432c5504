"""Known bugs: plausible wrong implementations of attention.

Each module holds the known bugs about one topic. A known bug replaces one of the correct steps.
It is itself a function of NumPy arrays that can be certified, and certification must fail:

    python -m spec certify spec.attention.mistakes.scaling:scales_by_model_width

Every clause names the known bugs that it must reject. A few of them only look wrong
(`harmless`): they are correct, and certification must pass.
"""

from collections.abc import Mapping
from importlib import import_module

from spec.mistake import Mistake, catalogue

IDEAS = (
    "scaling caps masking idleness causality windows first_keys sinks sink_sizes sink_gradients "
    "slopes slope_places slope_gradients places place_paths segments lengths packed paged served "
    "appended rings softmax sparsity tiles heads latents single_sizes long gradients "
    "through_lse observers numbers calls harmless summing"
)
MISTAKES: Mapping[str, Mistake] = catalogue(
    *(import_module(f"{__name__}.{name}") for name in IDEAS.split())
)
