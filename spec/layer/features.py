"""What can be said of a problem for a layer, in a word each; sizes are compared as letters."""

from collections.abc import Mapping

from spec.features import FORMATS, Feature, Vocabulary
from spec.layer import definition

WORDS: Mapping[str, Feature] = {
    "causal": lambda p: p.causal,
    "a padding mask": lambda p: p.padding is not None,
    "a mask": lambda p: p.mask is not None,
    "a boolean mask": lambda p: p.mask is not None and p.mask.dtype == bool,
    "an additive mask": lambda p: p.mask is not None and p.mask.dtype != bool,
    "a mask of heads": lambda p: p.mask is not None and p.mask.ndim == 3,
    "an idle query": lambda p: bool(definition.inside(p).idle.any()),
    "self-attention": lambda p: p.arrays == 1,
    "keys that are values": lambda p: p.arrays == 2,
    "biases": lambda p: p.biased,
    "widths of their own": lambda p: p.own_widths,
    "grouped heads": lambda p: p.key_heads != p.H,
    "batched": lambda p: p.batched,
    "training": lambda p: p.training,
    "weights asked for": lambda p: p.asks != "nothing",
    "the mean of the weights asked for": lambda p: p.asks == "mean",
    **FORMATS,
}
VOCABULARY = Vocabulary(WORDS, "BHNMAD", (("N", "M"), ("B", "H"), ("H", "D"), ("B", "N")))
