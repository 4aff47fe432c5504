"""Which past, and whether it is heeded at all beside a mask.

With N = M and no mask, an implementation may have lost its causality, or its
mask, or have them in each other's way, and still look right in one of the two.
"""

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Heeded
from spec.attention.mistakes.tiles import TILE
from spec.notation import Array
from spec.sizes import Sizes


def queries(sizes: Sizes) -> Array:
    """The positions of the queries, as a column."""
    return np.arange(sizes.N)[:, None]


def keys(sizes: Sizes) -> Array:
    """The positions of the keys."""
    return np.arange(sizes.M)


@wrong(
    "past",
    incident="I03",
    citation="ml-explore/mlx#2835",
    convention=("causal", "bottom-right"),
    where="causal and N != M and not positions",
)
def lets_the_last_query_see_the_last_key(sizes: Sizes) -> Array:
    """Aligns the corner of the causal mask with the end of the sequence."""
    return keys(sizes) <= queries(sizes) + (sizes.M - sizes.N)


@wrong("past", incident="I06", where="a key in the future and not positions")
def sees_one_key_ahead(sizes: Sizes) -> Array:
    """Counts the bound from one: j <= i + 1."""
    return keys(sizes) <= queries(sizes) + 1


@wrong("past", incident="I06", where="causal and not positions")
def hides_the_present(sizes: Sizes) -> Array:
    """Writes j < i, so that no query sees itself and the first sees nothing."""
    return keys(sizes) < queries(sizes)


@wrong(
    "past",
    incident="I06",
    citation="pytorch/pytorch#195910",
    where="a key in the future and not positions",
)
def bounds_the_future_by_fours(sizes: Sizes) -> Array:
    """Computes the bound once for each group of four queries, from its last one."""
    return keys(sizes) <= queries(sizes) | 3


@wrong("past", incident="I06", where="causal and not positions")
def hides_the_past(sizes: Sizes) -> Array:
    """Keeps the upper triangle where the lower was meant."""
    return keys(sizes) >= queries(sizes)


@wrong(
    "past",
    incident="I04",
    citation="bledden/triton-msl#7",
    where="a key in the future and M % 16 = 0 and not positions",
)
def sees_the_future_on_whole_tiles(sizes: Sizes) -> Array:
    """Folds the causal bound into the check for a ragged tile, which a whole one lacks."""
    return steps.past(sizes) | (sizes.M % TILE == 0)


@wrong(
    "past",
    incident="I19",
    citation="Dao-AILab/flash-attention#2528",
    where="causal and grouped heads and M > 1 and not positions",
)
def bounds_packed_rows(sizes: Sizes) -> Array:
    """Takes query i for row i // (H / G) of a packing of the heads that was not done."""
    return keys(sizes) <= queries(sizes) // max(sizes.H // max(sizes.G, 1), 1)


@wrong("heed", incident="I04", citation="keras-team/keras#23038", where="a key in the future")
def ignores_causality(mask: Array | None, _: bool, __: Array) -> Heeded:
    """Takes a fast path that has no causal bound."""
    return mask, False


@wrong(
    "heed",
    incident="plausible",
    convention=("causality", "always"),
    where="not causal and (M > 1 or positions)",
)
def hides_the_future_unasked(mask: Array | None, _: bool, __: Array) -> Heeded:
    """Is written for a decoder, and causal whether or not it is asked to be."""
    return mask, True


@wrong(
    "weigh",
    incident="plausible",
    convention=("lengths", "equal"),
    where="N < M and (not causal or positions)",
)
def reads_as_many_keys_as_queries(s: Array, allowed: Array) -> Array:
    """Counts the keys by the queries, so that the last of more are never read."""
    return steps.weigh(s, allowed & (np.arange(s.shape[-1]) < s.shape[-2]))


@wrong(
    "heed",
    incident="I04",
    citation="facebookresearch/xformers#103",
    where="a key in the future and no mask",
)
def forgets_causality_without_a_mask(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """Handles both kinds of masking inside `if mask is not None`."""
    return mask, causal and mask is not None


@wrong(
    "heed",
    incident="I05",
    citation="keras-team/keras#20459",
    where="a key in the future and a mask",
)
def lets_the_mask_replace_causality(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """Takes a mask that is given to be the whole mask."""
    return mask, causal and mask is None


@wrong(
    "heed", incident="I05", citation="pytorch/pytorch#131254", where="causal and a mask that tells"
)
def lets_causality_replace_the_mask(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """Takes `is_causal` for a description of the mask, which it then need not read."""
    return (None if causal else mask), causal


@wrong("heed", incident="I05", where="causal and a boolean mask")
def allows_what_either_allows(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Joins the mask and the causal bound by "or"."""
    if mask is None or not causal or mask.dtype != bool:
        return mask, causal
    return mask | past, False


@wrong("heed", incident="I05", where="causal and a boolean mask and a hidden key")
def shows_what_both_hide(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Joins what the mask hides and what causality hides by "exclusive or"."""
    if mask is None or not causal or mask.dtype != bool:
        return mask, causal
    return mask == past, False


@wrong(
    "heed",
    incident="I05",
    citation="microsoft/onnxruntime#14363",
    where="causal and a boolean mask and a key no penalty hides",
)
def adds_a_finite_fill_for_each(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Turns the mask and the causal bound into -1e4 each, and adds the two."""
    return _added_fills(mask, causal, past, -1e4)


@wrong(
    "heed",
    incident="I11",
    citation="huggingface/transformers#27114",
    where="causal and a boolean mask and an idle query",
)
def adds_the_lowest_number_for_each(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Adds the lowest number for the mask, and again for causality, which makes -inf."""
    return _added_fills(mask, causal, past, float(np.finfo(np.float32).min))


def _added_fills(mask: Array | None, causal: bool, past: Array, fill: float) -> Heeded:
    """The mask and the causal bound together as one additive mask, if they are asked for both."""
    if mask is None or not causal or mask.dtype != bool:
        return mask, causal
    number = np.float32(fill)
    return np.where(mask, 0, number) + np.where(past, 0, number), False
