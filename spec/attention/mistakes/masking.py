"""Known bugs of masks: which keys a mask removes, for which queries, and how completely.

Most of these bugs have no effect without a mask, and many have none with a causal mask. Some show
only if a query is fully masked, or if the mask differs between batches.
"""

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.exponentials import forbid, softmax
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Heeded
from spec.notation import Array
from spec.sizes import Sizes


@wrong("heed", incident="BUG-39", citation="opendilab/DI-engine#333", where="a mask that matters")
def ignores_the_mask(_: Array | None, causal: bool, __: Array) -> Heeded:
    """Ignores the mask, for example because the result of `masked_fill` is not assigned."""
    return None, causal


@wrong(
    "understand",
    incident="BUG-08",
    citation="InseeFrLab/torchTextClassifiers#92",
    convention=("mask-means", "forbid"),
    where="a boolean mask",
)
def inverts_the_mask(mask: Array) -> tuple[Array, Array]:
    """Treats True in a boolean mask as masked instead of allowed, as torch's layers do."""
    return steps.understand(~mask if mask.dtype == bool else mask)


@wrong("understand", incident="BUG-09", citation="pytorch/pytorch#107084", where="finite biases")
def reads_the_bias_as_a_mask(mask: Array) -> tuple[Array, Array]:
    """Casts an additive mask to bool, so that every bias other than zero masks its key."""
    return steps.understand(mask if mask.dtype == bool else mask == 0)


@wrong(
    "understand",
    incident="BUG-09",
    citation="HKUSTDial/flash-sparse-attention#146",
    where="a boolean mask and (a masked key or an attention sink)",
)
def adds_the_truth_values(mask: Array) -> tuple[Array, Array]:
    """Adds a boolean mask to the scores as numbers: 1 for allowed, 0 for masked."""
    return steps.understand(mask.astype(float) if mask.dtype == bool else mask)


@wrong("understand", incident="BUG-09", where="finite biases and several scores")
def subtracts_the_bias(mask: Array) -> tuple[Array, Array]:
    """Subtracts the finite biases of an additive mask instead of adding them."""
    allowed, bias = steps.understand(mask)
    return allowed, -bias


@wrong("understand", incident="BUG-09", where="finite biases and several scores")
def drops_the_finite_bias(mask: Array) -> tuple[Array, Array]:
    """Uses only the -inf entries of an additive mask, and drops its finite biases."""
    allowed, bias = steps.understand(mask)
    return allowed, np.zeros_like(bias)


@wrong("understand", incident="BUG-09", where="biases below -10000")
def takes_low_biases_for_a_mask(mask: Array) -> tuple[Array, Array]:
    """Masks every key whose bias is below -1e4, as if the bias were -inf."""
    if mask.dtype == bool:
        return steps.understand(mask)
    return steps.understand(np.where(mask < -1e4, -np.inf, mask))


@wrong("understand", incident="BUG-11", where="biases below -10000 and M > 1")
def clips_large_biases(mask: Array) -> tuple[Array, Array]:
    """Clips finite biases to the range -1e4 to 1e4, so that all lower ones become equal."""
    allowed, bias = steps.understand(mask)
    return allowed, np.clip(bias, -1e4, 1e4)


@wrong(
    "spread", incident="BUG-10", citation="microsoft/onnxruntime#24017", where="a mask per sequence"
)
def uses_the_mask_of_the_first_batch(mask: Array, sizes: Sizes) -> Array:
    """Uses the mask of the first batch for every batch: its offset lacks the batch index."""
    return np.broadcast_to(steps.spread(mask, sizes)[:1], sizes.scores)


@wrong("spread", incident="BUG-10", citation="patrick-kidger/equinox#190", where="a mask per head")
def uses_the_mask_of_the_first_head(mask: Array, sizes: Sizes) -> Array:
    """Uses the mask of the first head for every head, as if the mask had no axis of heads."""
    return np.broadcast_to(steps.spread(mask, sizes)[:, :1], sizes.scores)


@wrong("spread", incident="BUG-10", where="a mask per query")
def uses_the_mask_of_the_first_query(mask: Array, sizes: Sizes) -> Array:
    """Uses the mask row of the first query for every query, as if it were a padding mask."""
    return np.broadcast_to(steps.spread(mask, sizes)[:, :, :1], sizes.scores)


@wrong(
    "spread",
    incident="BUG-10",
    citation="microsoft/onnxruntime#24017",
    where="a mask broadcast along an inner axis",
)
def reads_broadcast_masks_as_written_out(mask: Array, sizes: Sizes) -> Array:
    """Indexes a broadcast mask by flat offset as if it were written out, wrapping at its end."""
    return np.resize(mask, sizes.scores)


@wrong(
    "spread",
    incident="BUG-10",
    citation="line/lighthouse#77",
    where="a mask of more than two axes and B > 1 and H > 1",
)
def repeats_the_mask_out_of_order(mask: Array, sizes: Sizes) -> Array:
    """Repeats the mask with heads before batches, `repeat(H, 1, 1)`, but reads batches first."""
    return steps.spread(mask, sizes).swapaxes(0, 1).reshape(sizes.scores)


@wrong(
    "spread",
    incident="BUG-10",
    citation="pytorch/pytorch#63271",
    where="a padding mask and a masked key and N = M",
)
def hides_padded_queries_too(mask: Array, sizes: Sizes) -> Array:
    """Applies a padding mask along the queries as well as along the keys when N = M."""
    full = steps.spread(mask, sizes)
    if sizes.N != sizes.M or mask.ndim < 2 or mask.shape[-2] != 1:
        return full
    turned = full.swapaxes(-1, -2)
    return full & turned if mask.dtype == bool else full + turned


@wrong(
    "spread", incident="BUG-10", where="a padding mask and a mask whose entries differ and N = M"
)
def lays_padding_along_queries(mask: Array, sizes: Sizes) -> Array:
    """Applies a padding mask along queries, not keys, when N = M: `mask[:, None, :, None]`."""
    full = steps.spread(mask, sizes)
    one_row = mask.ndim < 2 or mask.shape[-2] == 1
    return full.swapaxes(-1, -2) if one_row and sizes.N == sizes.M else full


@wrong(
    "spread",
    incident="BUG-10",
    where="a mask of more than two axes and a mask whose entries differ and B = H",
)
def swaps_batch_and_heads_of_the_mask(mask: Array, sizes: Sizes) -> Array:
    """Swaps the batch and head axes of the mask when B = H, where the shapes still fit."""
    full = steps.spread(mask, sizes)
    return full.swapaxes(0, 1) if sizes.B == sizes.H else full


@wrong("spread", incident="BUG-10", where="a mask whose entries differ and N = M and M > 1")
def transposes_square_masks(mask: Array, sizes: Sizes) -> Array:
    """Transposes the mask to keys by queries when N = M, where the shapes still fit."""
    full = steps.spread(mask, sizes)
    return full.swapaxes(-1, -2) if sizes.N == sizes.M else full


@wrong(
    "spread",
    incident="BUG-27",
    citation="pytorch/pytorch#187227",
    where="a mask per query and a mask whose entries differ and N > 64",
)
def wraps_mask_rows_at_64(mask: Array, sizes: Sizes) -> Array:
    """Reads row i % 64 of the mask for query i: the row offset overflows (here after 6 bits)."""
    rows = np.arange(sizes.N) % 64
    return steps.spread(mask, sizes)[:, :, rows]


@wrong("spread", incident="BUG-13", where="a mask that matters and M > 64 and M % 64 != 0")
def reads_whole_tiles_of_the_mask(mask: Array, sizes: Sizes) -> Array:
    """Ignores the mask for keys after the last full tile of 64, if there are more than 64 keys."""
    return _shown_from(sizes.M // 64 * 64 or sizes.M, mask, sizes)


@wrong("spread", incident="BUG-13", where="a mask that matters and M > 1024")
def forgets_the_mask_beyond_1024_keys(mask: Array, sizes: Sizes) -> Array:
    """Ignores the mask for keys after the first 1024, the size of one block of threads."""
    return _shown_from(1024, mask, sizes)


def _shown_from(end: int, mask: Array, sizes: Sizes) -> Array:
    """The mask, without effect on the keys from index `end` on."""
    full, nothing = steps.spread(mask, sizes), mask.dtype.type(mask.dtype == bool)
    return np.where(np.arange(sizes.M) < end, full, nothing)


@wrong(
    "weigh",
    incident="BUG-11",
    citation="karpathy/minGPT#75",
    where="a fully masked query or a key that survives a fill of -10000",
)
def fills_with_minus_ten_thousand(s: Array, allowed: Array) -> Array:
    """Fills masked scores with -1e4, not -inf: wrong for lower scores and fully masked queries."""
    return softmax(forbid(s, allowed, -1e4))


@wrong(
    "weigh", incident="BUG-11", where="a fully masked query or a key that survives a fill of -1e30"
)
def fills_with_minus_1e30(s: Array, allowed: Array) -> Array:
    """Fills masked scores with -1e30, not -inf: wrong for lower scores and fully masked queries."""
    return softmax(forbid(s, allowed, -1e30))


@wrong("weigh", incident="BUG-11", where="a key that survives a penalty")
def adds_minus_a_billion(s: Array, allowed: Array) -> Array:
    """Adds -1e9 to masked scores: in float32, a fully masked query gets nearly uniform weights."""
    return softmax(s + np.where(allowed, 0, s.dtype.type(-1e9)))


@wrong("weigh", incident="BUG-11", where="a key that survives a penalty")
def adds_minus_ten_thousand(s: Array, allowed: Array) -> Array:
    """Adds -1e4 to masked scores: a fully masked query attends as if nothing were masked."""
    return softmax(s + np.where(allowed, 0, s.dtype.type(-1e4)))


@wrong("weigh", incident="BUG-09", where="a masked key")
def zeroes_forbidden_scores(s: Array, allowed: Array) -> Array:
    """Multiplies the scores by the mask: a masked key gets score 0 instead of weight 0."""
    return softmax(forbid(s, allowed, 0))


@wrong("weigh", incident="BUG-17", where="a masked key and M > 1")
def forbids_after_normalising(s: Array, allowed: Array) -> Array:
    """Masks the weights after the softmax, so masked keys still count in the denominator."""
    return np.where(allowed, softmax(s), 0)


@wrong(
    "combine",
    incident="BUG-33",
    citation="pytorch/pytorch#101967",
    force="should",
    where="a NaN and a masked key",
)
def multiplies_forbidden_values_by_zero(a: Array, v: Array, _: Array) -> Array:
    """Multiplies masked values by a weight of zero, which gives NaN if a value is not finite."""
    return a @ v
