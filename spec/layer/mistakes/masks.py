"""Known bugs of masks and padding, of the returned weights, and of evaluation mode."""

import numpy as np

from spec.attention.mistakes.exponentials import divided, softmax
from spec.layer.mistakes import steps
from spec.layer.mistakes.making import wrong
from spec.layer.mistakes.steps import Inputs, Mask, Sizes
from spec.notation import Array

WITHOUT_KEYS = "a fully masked query"
FAR = "a masked key that scores far above all visible ones"
BOTH = "a padding mask and an attention mask"
MEAN = "weights averaged over heads"


@wrong(
    "hidden_by_padding",
    incident="BUG-08",
    convention=("mask-means", "attend"),
    where="a padding mask and no additive mask",
)
def reads_padding_as_what_may_attend(padding: Array, sizes: Sizes) -> Array:
    """Reads True in a padding mask as a real token, where it marks a padding token."""
    if padding.dtype != bool:
        return steps.hidden_by_padding(padding, sizes)
    return steps.hidden_by_padding(~padding, sizes)


@wrong(
    "hidden_by_padding",
    incident="BUG-30",
    citation="microsoft/onnxruntime#20521",
    where="a padded key and B > 1",
)
def uses_the_padding_of_the_first_batch(padding: Array, sizes: Sizes) -> Array:
    """Uses the padding mask of the first batch element for all batch elements."""
    return np.broadcast_to(steps.hidden_by_padding(padding, sizes)[:1], (sizes.B, 1, 1, sizes.M))


@wrong("hidden_by_padding", incident="BUG-30", where="a padded key and M > 1")
def shows_the_first_padded_key(padding: Array, sizes: Sizes) -> Array:
    """Leaves a padding token visible if it directly follows a real token (off by one)."""
    before = np.concatenate([padding[:, :1], padding[:, :-1]], axis=1)
    shown = before & padding if padding.dtype == bool else np.maximum(before, padding)
    return steps.hidden_by_padding(shown, sizes)


@wrong("combine", incident="BUG-30", citation="deepspeedai/DeepSpeed#1912", where=BOTH)
def drops_the_mask_beside_padding(s: Array, mask: Mask, padding: Mask) -> Array:
    """Ignores the attention mask if there is a padding mask."""
    return steps.combine(s, None if padding is not None else mask, padding)


@wrong("combine", incident="BUG-30", where="a padded key and an attention mask")
def drops_the_padding_beside_a_mask(s: Array, mask: Mask, padding: Mask) -> Array:
    """Ignores the padding mask if there is an attention mask."""
    return steps.combine(s, mask, None if mask is not None else padding)


@wrong("combine", incident="BUG-09", where=f"{BOTH} and no additive mask")
def forbids_only_what_both_masks_forbid(s: Array, mask: Mask, padding: Mask) -> Array:
    """Masks a key only if the attention mask and the padding mask both mask it."""
    if mask is None or padding is None or mask.dtype != bool or padding.dtype != bool:
        return steps.combine(s, mask, padding)
    return steps.combine(s, mask & padding, None)


@wrong("combine", incident="BUG-09", where="an attention mask and no additive mask")
def adds_a_mask_of_truth_values(s: Array, mask: Mask, padding: Mask) -> Array:
    """Adds a boolean attention mask to the scores as numbers: 1 for masked, 0 for allowed."""
    cast = mask.astype(s.dtype) if mask is not None and mask.dtype == bool else mask
    return steps.combine(s, cast, padding)


@wrong("combine", incident="BUG-11", where=f"a padded key and {FAR}")
def hides_padding_with_minus_a_thousand(s: Array, mask: Mask, padding: Mask) -> Array:
    """Adds -1e3 to the scores of padding tokens, so a large masked score stays visible."""
    s = steps.combine(s, mask, None)
    if padding is None:
        return s
    hidden = padding if padding.dtype == bool else np.isneginf(padding)
    return s + np.where(hidden, s.dtype.type(-1e3), 0)


@wrong("combine", incident="BUG-11", where=f"{WITHOUT_KEYS} or {FAR}")
def takes_a_billion_from_hidden_scores(s: Array, mask: Mask, padding: Mask) -> Array:
    """Adds -1e9 to masked scores: too little for huge scores and for fully masked queries."""
    for hidden in (mask, padding):
        if hidden is not None:
            s = s + (np.where(hidden, s.dtype.type(-1e9), 0) if hidden.dtype == bool else hidden)
    return s


@wrong("combine", incident="BUG-11", where=f"{WITHOUT_KEYS} or {FAR}")
def fills_hidden_scores_with_minus_a_billion(s: Array, mask: Mask, padding: Mask) -> Array:
    """Fills masked scores with -1e9, not -inf: wrong for lower scores and fully masked queries."""
    s = steps.combine(s, mask, padding)
    return np.where(np.isneginf(s), s.dtype.type(-1e9), s)


@wrong("weigh", incident="BUG-11", dtypes=("float16",))
def gives_hidden_keys_of_float16_minus_30000(s: Array) -> Array:
    """Fills masked scores with -30000 and zeroes their weights; visible scores may be lower."""
    hidden = np.isneginf(s)
    return np.where(hidden, 0, softmax(np.where(hidden, s.dtype.type(-3e4), s)))


@wrong(
    "spread",
    incident="BUG-10",
    citation="line/lighthouse#77",
    where="a mask per head and B > 1 and H > 1",
)
def lays_the_mask_of_heads_head_first(mask: Array, sizes: Sizes) -> Array:
    """Reads a mask of shape (B H, N, M) as (H B, N, M), with the heads outermost."""
    if mask.ndim == 2:
        return steps.spread(mask, sizes)
    return mask.reshape(sizes.H, sizes.B, sizes.N, sizes.M).swapaxes(0, 1)


@wrong("spread", incident="BUG-10", where="a mask per head and H > 1")
def gives_all_heads_the_mask_of_the_first(mask: Array, sizes: Sizes) -> Array:
    """Applies the mask of the first head to all heads of a batch element."""
    return steps.spread(mask, sizes)[:, :1]


@wrong("spread", incident="BUG-10", where="an attention mask and N = M and M > 1")
def transposes_the_mask_of_a_square_layer(mask: Array, sizes: Sizes) -> Array:
    """Transposes the attention mask, as if it were keys by queries, if N = M."""
    full = steps.spread(mask, sizes)
    return full.swapaxes(-1, -2) if sizes.N == sizes.M else full


@wrong(
    "receive",
    incident="BUG-25",
    citation="Kyubyong/transformer#69",
    where="a value whose key sums to zero",
)
def forgets_tokens_of_zeros(query: Array, key: Array, value: Array, _: Sizes) -> Inputs:
    """Treats a token whose key input sums to zero as padding, and zeroes its value input."""
    return query, key, np.where(key.sum(axis=-1, keepdims=True) == 0, 0, value)


@wrong("combine", incident="BUG-09", where="a mask below -10000")
def takes_low_biases_of_a_layer_for_a_mask(s: Array, mask: Mask, padding: Mask) -> Array:
    """Treats entries below -1e4 of an additive mask as -inf, so they mask keys."""
    if mask is not None and mask.dtype != bool:
        mask = np.where(mask < -1e4, -np.inf, mask)
    return steps.combine(s, mask, padding)


@wrong("combine", incident="BUG-11", citation="google/flax#982", where="an additive mask")
def adds_a_mask_in_half_precision(s: Array, mask: Mask, padding: Mask) -> Array:
    """Rounds an additive mask to float16, where entries below about -65504 become -inf."""
    if mask is not None and mask.dtype != bool:
        mask = mask.astype(np.float16).astype(s.dtype)
    return steps.combine(s, mask, padding)


@wrong("weigh", incident="einsum-layer", where="scores beyond 80")
def exponentiates_the_scores_as_they_are(s: Array) -> Array:
    """Computes exp(s) without subtracting the maximum: high scores give NaN, low ones zeros."""
    e = np.exp(s)
    return divided(e, e.sum(axis=-1, keepdims=True))


@wrong(
    "weigh",
    incident="BUG-01",
    citation="pytorch/pytorch#103749",
    convention=("fully-masked", "nan"),
    where=WITHOUT_KEYS,
)
def gives_idle_queries_of_a_layer_nan(s: Array) -> Array:
    """Returns NaN for a fully masked query, as the softmax of a row of -inf is 0 / 0."""
    idle = np.isneginf(s).all(axis=-1, keepdims=True)
    return np.where(idle, np.nan, softmax(s)).astype(s.dtype)


@wrong("weigh", incident="BUG-01", convention=("fully-masked", "uniform"), where=WITHOUT_KEYS)
def gives_idle_queries_of_a_layer_the_mean(s: Array) -> Array:
    """Masks with the lowest finite number, so a fully masked query gets the mean of the values."""
    return softmax(np.maximum(s, np.finfo(s.dtype).min))


@wrong(
    "show",
    incident="BUG-37",
    citation="facebookresearch/fairseq#3365",
    where="the weights asked for and not weights averaged over heads and H > 1",
)
def shows_the_mean_for_every_head(a: Array, average: bool) -> Array:
    """Returns the mean of the weights over heads for every head, when each head is requested."""
    mean = a.mean(axis=1, keepdims=True)
    return mean[:, 0] if average else np.broadcast_to(mean, a.shape).copy()


@wrong("show", incident="BUG-37", where=f"the weights asked for and {MEAN} and H > 1")
def shows_the_first_head_for_the_mean(a: Array, average: bool) -> Array:
    """Returns the weights of the first head when the mean over heads is requested."""
    return a[:, 0] if average else a


@wrong("show", incident="BUG-37", where=f"the weights asked for and {MEAN} and H > 1")
def shows_the_sum_of_the_heads(a: Array, average: bool) -> Array:
    """Returns the sum of the weights over heads when their mean is requested."""
    return a.sum(axis=1) if average else a


@wrong("show", incident="BUG-37", where="the weights asked for and N = M and M > 1")
def shows_the_weights_transposed(a: Array, average: bool) -> Array:
    """Returns the weights transposed, as keys by queries, if N = M."""
    turned = a.swapaxes(-1, -2) if a.shape[-1] == a.shape[-2] else a
    return turned.mean(axis=1) if average else turned


@wrong(
    "answer",
    incident="BUG-32",
    citation="pytorch/pytorch#86120",
    where="not training and a padded key and N = M",
)
def zeroes_padded_queries_in_evaluation(
    y: Array, evaluating: bool, padding: Mask, asked: bool
) -> Array:
    """Returns zeros for queries at padded positions in evaluation mode if N = M."""
    del asked
    if not evaluating or padding is None or padding.shape[1] != y.shape[1]:
        return y
    hidden = padding if padding.dtype == bool else np.isneginf(padding)
    return np.where(hidden[..., None], 0, y)


@wrong("answer", incident="BUG-32", where="weights returned")
def returns_float_noise_when_asked_for_weights(
    y: Array, evaluating: bool, padding: Mask, asked: bool
) -> Array:
    """Rounds the output to float16 if the weights are requested."""
    del evaluating, padding
    return y.astype(np.float16).astype(y.dtype) if asked else y


@wrong("answer", incident="BUG-22", where="not training")
def scales_in_evaluation(y: Array, evaluating: bool, padding: Mask, asked: bool) -> Array:
    """Multiplies the output by 0.9 in evaluation mode, as if training had used dropout."""
    del padding, asked
    return y * y.dtype.type(0.9) if evaluating else y
