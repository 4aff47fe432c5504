"""The words for problems of a layer. Sizes are compared by the letters of their axes.

Masks and scores are those of the attention inside.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from spec.attention.magnitudes import beyond, next_to_nothing, unhidden
from spec.attention.meanings import MEANINGS as ATTENTION
from spec.attention.notation import Problem
from spec.features import FORMATS, Feature, Vocabulary
from spec.layer import definition
from spec.layer.notation import LayerProblem

FAR, LARGE, LOW = 250, 80, -10000


@lru_cache(maxsize=16)
def _inside(problem: LayerProblem) -> Problem:
    return definition.inside(problem)


def _far_ahead(problem: LayerProblem) -> bool:
    return unhidden(_inside(problem), by=FAR)


def _beyond(problem: LayerProblem) -> bool:
    return beyond(LARGE, _inside(problem))


def _low(problem: LayerProblem) -> bool:
    mask = problem.mask
    return mask is not None and bool((np.isfinite(mask) & (mask < LOW)).any())


def _silent(problem: LayerProblem) -> bool:
    told = problem.value.any(axis=-1)
    return bool((told & (problem.key.sum(axis=-1) == 0)).any())


WORDS: Mapping[str, Feature] = {
    "causal": lambda p: p.causal,
    "a padding mask": lambda p: p.padding is not None,
    "a padded key": lambda p: p.padding is not None and p.padding.any(),
    "a mask": lambda p: p.mask is not None,
    "an attention mask": lambda p: p.causal or p.mask is not None,
    "a boolean mask": lambda p: p.mask is not None and p.mask.dtype == bool,
    "an additive mask": lambda p: p.mask is not None and p.mask.dtype != bool,
    "a mask per head": lambda p: p.mask is not None and p.mask.ndim == 3,
    f"a mask below {LOW}": _low,
    "a fully masked query": lambda p: bool(_inside(p).idle.any()),
    "a masked key that scores far above all visible ones": _far_ahead,
    f"scores beyond {LARGE}": _beyond,
    "a negligible weight": lambda p: next_to_nothing(_inside(p)),
    "a value whose key sums to zero": _silent,
    "self-attention": lambda p: p.arrays == 1,
    "keys used as values": lambda p: p.arrays == 2,
    "three different inputs": lambda p: p.arrays == 3,
    "biases": lambda p: p.biases,
    "input widths that differ": lambda p: p.own_widths,
    "keys as wide as queries": lambda p: p.key.shape[2] == p.A,
    "keys as wide as values": lambda p: p.key.shape[2] == p.value.shape[2],
    "grouped heads": lambda p: p.key_heads != p.H,
    "batched": lambda p: p.batched,
    "training": lambda p: p.training,
    "weights returned": lambda p: p.asks != "nothing",
    "weights averaged over heads": lambda p: p.asks == "mean",
    **FORMATS,
}

MEANINGS: Mapping[str, str] = {
    **ATTENTION,
    "A": "the model width",
    "D": "the width of one head",
    "causal": "causality is on",
    "a padding mask": "a mask says which keys are padding",
    "a padded key": "some key is padding",
    "an attention mask": "a mask, or causality, is given",
    "a mask below #": "an additive mask has a finite number below #",
    "a masked key that scores far above all visible ones": "a masked key has a score so far above "
    "all visible ones that adding -1000 does not mask it",
    "a value whose key sums to zero": "the input of a key adds up to 0, and that of its value is "
    "not all zeros",
    "self-attention": "query, key and value are one array",
    "keys used as values": "key and value are one array",
    "three different inputs": "query, key and value are three arrays",
    "biases": "the projections have biases",
    "input widths that differ": "keys or values have other widths than queries",
    "keys as wide as queries": "keys have the model width",
    "keys as wide as values": "keys and values have one width",
    "batched": "the inputs have a batch axis",
    "training": "the layer is in training mode",
    "weights returned": "the call asks for the weights of the heads, or their mean",
    "weights averaged over heads": "the call asks for the mean of the weights of the heads",
}
# What is masked has no weight: the word holds for most problems, whatever is wrong with them.
FREQUENT = ("a negligible weight",)
PAIRS = (("N", "M"), ("B", "H"), ("H", "D"), ("B", "N"))
VOCABULARY = Vocabulary(WORDS, "BHNMAD", PAIRS, FREQUENT)
