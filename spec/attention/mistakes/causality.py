"""Known bugs of causality: its bound, and how it combines with a mask.

A test with N = M does not show a wrong alignment. A test of causality alone, or of a mask
alone, does not show that one of the two replaces the other.
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
    incident="BUG-03",
    citation="ml-explore/mlx#2835",
    convention=("causal", "bottom-right"),
    where="causal and N != M and not positions",
)
def lets_the_last_query_see_the_last_key(sizes: Sizes) -> Array:
    """Aligns the causal diagonal bottom-right, at the last query and key, instead of top-left."""
    return keys(sizes) <= queries(sizes) + (sizes.M - sizes.N)


@wrong("past", incident="BUG-06", where="a key in the future and not positions")
def sees_one_key_ahead(sizes: Sizes) -> Array:
    """Allows j <= i + 1 instead of j <= i, so a query also attends to the next key."""
    return keys(sizes) <= queries(sizes) + 1


@wrong("past", incident="BUG-06", where="causal and not positions")
def hides_the_present(sizes: Sizes) -> Array:
    """Allows j < i instead of j <= i, so a query cannot attend to its own position."""
    return keys(sizes) < queries(sizes)


@wrong(
    "past",
    incident="BUG-06",
    citation="pytorch/pytorch#195910",
    where="a key in the future and not positions",
)
def bounds_the_future_by_fours(sizes: Sizes) -> Array:
    """Computes the causal bound once for every four queries, from the last one of the four."""
    return keys(sizes) <= queries(sizes) | 3


@wrong("past", incident="BUG-06", where="causal and not positions")
def hides_the_past(sizes: Sizes) -> Array:
    """Allows j >= i instead of j <= i, the upper triangle instead of the lower one."""
    return keys(sizes) >= queries(sizes)


@wrong(
    "past",
    incident="BUG-04",
    citation="bledden/triton-msl#7",
    where="a key in the future and M % 16 = 0 and not positions",
)
def sees_the_future_on_whole_tiles(sizes: Sizes) -> Array:
    """Ignores causality if M is a multiple of 16: only the code for a partial tile applies it."""
    return steps.past(sizes) | (sizes.M % TILE == 0)


@wrong(
    "past",
    incident="BUG-19",
    citation="Dao-AILab/flash-attention#2528",
    where="causal and grouped heads and M > 1 and not positions",
)
def bounds_packed_rows(sizes: Sizes) -> Array:
    """Uses i // (H / G) as the position of query i, as if grouped heads were packed into rows."""
    return keys(sizes) <= queries(sizes) // max(sizes.H // max(sizes.G, 1), 1)


@wrong("heed", incident="BUG-04", citation="keras-team/keras#23038", where="a key in the future")
def ignores_causality(mask: Array | None, _: bool, __: Array) -> Heeded:
    """Ignores the causal flag, so queries attend to future keys."""
    return mask, False


@wrong(
    "heed",
    incident="plausible",
    convention=("causality", "always"),
    where="not causal and (M > 1 or positions)",
)
def hides_the_future_unasked(mask: Array | None, _: bool, __: Array) -> Heeded:
    """Applies causality in every call, whether or not the causal flag is set."""
    return mask, True


@wrong(
    "weigh",
    incident="plausible",
    convention=("lengths", "equal"),
    where="N < M and (not causal or positions)",
)
def reads_as_many_keys_as_queries(s: Array, allowed: Array) -> Array:
    """Reads only as many keys as there are queries (N), so any further keys are ignored."""
    return steps.weigh(s, allowed & (np.arange(s.shape[-1]) < s.shape[-2]))


@wrong(
    "heed",
    incident="BUG-04",
    citation="facebookresearch/xformers#103",
    where="a key in the future and no mask",
)
def forgets_causality_without_a_mask(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """Applies causality only if a mask is given: the code for it is in `if mask is not None`."""
    return mask, causal and mask is not None


@wrong(
    "heed",
    incident="BUG-05",
    citation="keras-team/keras#20459",
    where="a key in the future and a mask",
)
def lets_the_mask_replace_causality(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """Ignores the causal flag if a mask is given, and applies the mask alone."""
    return mask, causal and mask is None


@wrong(
    "heed",
    incident="BUG-05",
    citation="pytorch/pytorch#131254",
    where="causal and a mask that matters",
)
def lets_causality_replace_the_mask(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """Ignores the mask if the causal flag is set, and applies causality alone."""
    return (None if causal else mask), causal


@wrong("heed", incident="BUG-05", where="causal and a boolean mask")
def allows_what_either_allows(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Combines a boolean mask and causality with `or` instead of `and`."""
    if mask is None or not causal or mask.dtype != bool:
        return mask, causal
    return mask | past, False


@wrong("heed", incident="BUG-05", where="causal and a boolean mask and a masked key")
def shows_what_both_hide(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Masks a key if either a boolean mask or causality masks it, but not if both do."""
    if mask is None or not causal or mask.dtype != bool:
        return mask, causal
    return mask == past, False


@wrong(
    "heed",
    incident="BUG-05",
    citation="microsoft/onnxruntime#14363",
    where="causal and a boolean mask and a key that survives a penalty",
)
def adds_a_finite_fill_for_each(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Adds -1e4 instead of -inf for keys that a boolean mask masks, and again for causality."""
    return _added_fills(mask, causal, past, -1e4)


@wrong(
    "heed",
    incident="BUG-11",
    citation="huggingface/transformers#27114",
    where="causal and a boolean mask and a fully masked query",
)
def adds_the_lowest_number_for_each(mask: Array | None, causal: bool, past: Array) -> Heeded:
    """Adds the lowest float32 number for mask and causality each; only both together give -inf."""
    return _added_fills(mask, causal, past, float(np.finfo(np.float32).min))


def _added_fills(mask: Array | None, causal: bool, past: Array, fill: float) -> Heeded:
    """The mask and causality as one additive mask, if there are both and the mask is boolean."""
    if mask is None or not causal or mask.dtype != bool:
        return mask, causal
    number = np.float32(fill)
    return np.where(mask, 0, number) + np.where(past, 0, number), False
