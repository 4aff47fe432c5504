"""Plausible wrong implementations of attention, a catalogue of temptations.

Each module holds the mistakes about one idea. A mistake replaces one of the right steps,
and is itself a function of NumPy arrays that can be certified, and must not be:

    python -m spec certify spec.attention.mistakes.scaling:scales_by_model_width

Every clause names the mistakes that it must reject. A few mistakes are right
after all (`harmless`), and must be certified.
"""

from collections.abc import Mapping
from importlib import import_module

from spec.mistake import Mistake, catalogue

IDEAS = (
    "scaling caps masking idleness causality windows first_keys sinks sink_sizes sink_gradients "
    "slopes slope_places slope_gradients places place_paths segments lengths packed paged served "
    "appended rings softmax sparsity tiles heads latents single_sizes gradients through_lse "
    "observers numbers calls harmless"
)
MISTAKES: Mapping[str, Mistake] = catalogue(
    *(import_module(f"{__name__}.{name}") for name in IDEAS.split())
)
