"""What a mask forbids: which keys, for whom, and how completely.

Most of these are invisible without a mask, many with a causal one, and some
with every mask whose rows all keep a key or whose batches are all alike.
"""

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.exponentials import forbid, softmax
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Heeded
from spec.notation import Array
from spec.sizes import Sizes


@wrong("heed", incident="I39", citation="opendilab/DI-engine#333", where="a mask that tells")
def ignores_the_mask(_: Array | None, causal: bool, __: Array) -> Heeded:
    """Computes the masked scores, and discards them: `masked_fill` without its underscore."""
    return None, causal


@wrong(
    "understand",
    incident="I08",
    citation="InseeFrLab/torchTextClassifiers#92",
    convention=("mask means", "forbid"),
    where="a boolean mask",
)
def inverts_the_mask(mask: Array) -> tuple[Array, Array]:
    """Reads True as "ignore", as torch's layers do and its function does not."""
    return steps.understand(~mask if mask.dtype == bool else mask)


@wrong("understand", incident="I09", citation="pytorch/pytorch#107084", where="finite biases")
def reads_the_bias_as_a_mask(mask: Array) -> tuple[Array, Array]:
    """Casts an additive mask to bool, so that any number but zero forbids."""
    return steps.understand(mask if mask.dtype == bool else mask == 0)


@wrong(
    "understand",
    incident="I09",
    citation="HKUSTDial/flash-sparse-attention#146",
    where="a boolean mask and (a hidden key or a sink)",
)
def adds_the_truth_values(mask: Array) -> tuple[Array, Array]:
    """Adds a boolean mask to the scores: 1 for allowed, 0 for forbidden."""
    return steps.understand(mask.astype(float) if mask.dtype == bool else mask)


@wrong("understand", incident="I09", where="finite biases and several scores")
def subtracts_the_bias(mask: Array) -> tuple[Array, Array]:
    """Takes the bias for a penalty."""
    allowed, bias = steps.understand(mask)
    return allowed, -bias


@wrong("understand", incident="I09", where="finite biases and several scores")
def drops_the_finite_bias(mask: Array) -> tuple[Array, Array]:
    """Takes from an additive mask only what it forbids."""
    allowed, bias = steps.understand(mask)
    return allowed, np.zeros_like(bias)


@wrong("understand", incident="I09", where="biases below -10000")
def takes_low_biases_for_a_mask(mask: Array) -> tuple[Array, Array]:
    """Forbids what has a bias of less than -1e4, as somebody's -inf is likely to be."""
    if mask.dtype == bool:
        return steps.understand(mask)
    return steps.understand(np.where(mask < -1e4, -np.inf, mask))


@wrong("understand", incident="I11", where="biases below -10000 and M > 1")
def clips_large_biases(mask: Array) -> tuple[Array, Array]:
    """Clips biases to what float16 can take, so that the low ones become equal."""
    allowed, bias = steps.understand(mask)
    return allowed, np.clip(bias, -1e4, 1e4)


@wrong("spread", incident="I10", citation="microsoft/onnxruntime#24017", where="a mask of batches")
def uses_the_mask_of_the_first_batch(mask: Array, sizes: Sizes) -> Array:
    """Computes the offset into the mask from the head alone."""
    return np.broadcast_to(steps.spread(mask, sizes)[:1], sizes.scores)


@wrong("spread", incident="I10", citation="patrick-kidger/equinox#190", where="a mask of heads")
def uses_the_mask_of_the_first_head(mask: Array, sizes: Sizes) -> Array:
    """Hands the mask to every head as if it had no axis for them."""
    return np.broadcast_to(steps.spread(mask, sizes)[:, :1], sizes.scores)


@wrong("spread", incident="I10", where="a mask of rows")
def uses_the_mask_of_the_first_query(mask: Array, sizes: Sizes) -> Array:
    """Takes every mask for a padding mask, the same for all queries."""
    return np.broadcast_to(steps.spread(mask, sizes)[:, :, :1], sizes.scores)


@wrong(
    "spread",
    incident="I10",
    citation="microsoft/onnxruntime#24017",
    where="a mask broadcast inside",
)
def reads_broadcast_masks_as_written_out(mask: Array, sizes: Sizes) -> Array:
    """Counts entries from the start of the mask as if every axis were written out."""
    return np.resize(mask, sizes.scores)


@wrong(
    "spread",
    incident="I10",
    citation="line/lighthouse#77",
    where="a mask of outer axes and B > 1 and H > 1",
)
def repeats_the_mask_out_of_order(mask: Array, sizes: Sizes) -> Array:
    """Folds the heads into the batch with `repeat(H, 1, 1)`, which puts the heads first."""
    return steps.spread(mask, sizes).swapaxes(0, 1).reshape(sizes.scores)


@wrong(
    "spread",
    incident="I10",
    citation="pytorch/pytorch#63271",
    where="a padding mask and a hidden key and N = M",
)
def hides_padded_queries_too(mask: Array, sizes: Sizes) -> Array:
    """Merges a padding mask into the square one along rows as well as columns."""
    full = steps.spread(mask, sizes)
    if sizes.N != sizes.M or mask.ndim < 2 or mask.shape[-2] != 1:
        return full
    turned = full.swapaxes(-1, -2)
    return full & turned if mask.dtype == bool else full + turned


@wrong("spread", incident="I10", where="a padding mask and an uneven mask and N = M")
def lays_padding_along_queries(mask: Array, sizes: Sizes) -> Array:
    """Writes mask[:, None, :, None], which hides rows where columns were meant."""
    full = steps.spread(mask, sizes)
    one_row = mask.ndim < 2 or mask.shape[-2] == 1
    return full.swapaxes(-1, -2) if one_row and sizes.N == sizes.M else full


@wrong("spread", incident="I10", where="a mask of outer axes and an uneven mask and B = H")
def swaps_batch_and_heads_of_the_mask(mask: Array, sizes: Sizes) -> Array:
    """Lays the mask out as heads by batch, which nothing notices when H = B."""
    full = steps.spread(mask, sizes)
    return full.swapaxes(0, 1) if sizes.B == sizes.H else full


@wrong("spread", incident="I10", where="an uneven mask and N = M and M > 1")
def transposes_square_masks(mask: Array, sizes: Sizes) -> Array:
    """Lays the mask out as keys by queries, which nothing notices when N = M."""
    full = steps.spread(mask, sizes)
    return full.swapaxes(-1, -2) if sizes.N == sizes.M else full


@wrong(
    "spread",
    incident="I27",
    citation="pytorch/pytorch#187227",
    where="a mask of rows and an uneven mask and N > 64",
)
def wraps_mask_rows_at_64(mask: Array, sizes: Sizes) -> Array:
    """Lets the offset of a row overflow: here in 6 bits, where it happened in 32."""
    rows = np.arange(sizes.N) % 64
    return steps.spread(mask, sizes)[:, :, rows]


@wrong("spread", incident="I13", where="a mask that tells and M > 64 and M % 64 != 0")
def reads_whole_tiles_of_the_mask(mask: Array, sizes: Sizes) -> Array:
    """Reads the mask 64 keys at a time, and shows the keys beyond the last whole tile."""
    return _shown_from(sizes.M // 64 * 64 or sizes.M, mask, sizes)


@wrong("spread", incident="I13", where="a mask that tells and M > 1024")
def forgets_the_mask_beyond_1024_keys(mask: Array, sizes: Sizes) -> Array:
    """Has one block of threads for the mask, which are at most 1024."""
    return _shown_from(1024, mask, sizes)


def _shown_from(end: int, mask: Array, sizes: Sizes) -> Array:
    """The mask, but that it hides nothing from a key on."""
    full, nothing = steps.spread(mask, sizes), mask.dtype.type(mask.dtype == bool)
    return np.where(np.arange(sizes.M) < end, full, nothing)


@wrong(
    "weigh",
    incident="I11",
    citation="karpathy/minGPT#75",
    where="an idle query or a key no fill of -10000 hides",
)
def fills_with_minus_ten_thousand(s: Array, allowed: Array) -> Array:
    """Forbids with -1e4, which large scores see through."""
    return softmax(forbid(s, allowed, -1e4))


@wrong("weigh", incident="I11", where="an idle query or a key no fill of -1e30 hides")
def fills_with_minus_1e30(s: Array, allowed: Array) -> Array:
    """Forbids with -1e30, below which no score is thought to be."""
    return softmax(forbid(s, allowed, -1e30))


@wrong("weigh", incident="I11", where="a key no penalty hides")
def adds_minus_a_billion(s: Array, allowed: Array) -> Array:
    """Adds -1e9 to forbidden scores, which drowns them, so that an idle row is nearly flat."""
    return softmax(s + np.where(allowed, 0, s.dtype.type(-1e9)))


@wrong("weigh", incident="I11", where="a key no penalty hides")
def adds_minus_ten_thousand(s: Array, allowed: Array) -> Array:
    """Adds -1e4 to forbidden scores, so that an idle query attends as if nothing were hidden."""
    return softmax(s + np.where(allowed, 0, s.dtype.type(-1e4)))


@wrong("weigh", incident="I09", where="a hidden key")
def zeroes_forbidden_scores(s: Array, allowed: Array) -> Array:
    """Multiplies the scores by the mask: a forbidden key gets the score 0, not the weight 0."""
    return softmax(forbid(s, allowed, 0))


@wrong("weigh", incident="I17", where="a hidden key and M > 1")
def forbids_after_normalising(s: Array, allowed: Array) -> Array:
    """Zeroes the weights of forbidden keys, and leaves their share in the denominator."""
    return np.where(allowed, softmax(s), 0)


@wrong(
    "combine",
    incident="I33",
    citation="pytorch/pytorch#101967",
    force="should",
    where="a NaN and a hidden key",
)
def multiplies_forbidden_values_by_zero(a: Array, v: Array, _: Array) -> Array:
    """Trusts a weight of zero to hide a value, which it does not if the value is NaN."""
    return a @ v
