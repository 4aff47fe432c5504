"""The output is wrong: weights that are none, or those of something else."""

import numpy as np

from spec.merging.mistakes import steps
from spec.merging.mistakes.making import Right, wrong
from spec.notation import Array


@wrong("mix", incident="I18", where="uneven states or an empty state beside a live one")
def averages_the_outputs(_: Array, o_1: Array, __: Array, o_2: Array) -> Array:
    """Takes the mean of the outputs, as if both parts had as much to say."""
    return (o_1 + o_2) / 2


@wrong("mix", incident="plausible", where="uneven states or an empty state beside a live one")
def swaps_the_weights(w_1: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """Multiplies each output by the weight of the other one."""
    return steps.mix(w_2, o_1, w_1, o_2)


@wrong("share", incident="I17", where="two live states")
def forgets_to_renormalise(e: Array, _: Array) -> Array:
    """Rescales both outputs to the larger maximum, and does not divide by the sum."""
    return e


@wrong("larger", incident="I17", where="log-sum-exps beyond 80")
def forgets_the_maximum(l_1: Array, _: Array) -> Array:
    """Exponentiates the log-sum-exps as they are."""
    return np.zeros_like(l_1)


@wrong("larger", incident="I17", where="rows 8 apart")
def subtracts_one_maximum_for_all(l_1: Array, l_2: Array) -> Array:
    """Takes one maximum over all rows, so that those far below it vanish."""
    both = np.concatenate([l_1.reshape(-1), l_2.reshape(-1)])
    return np.broadcast_to(steps.larger(both.max(), both.max()), l_1.shape)


@wrong("power", incident="I17", where="states 8 apart")
def clamps_the_difference(lse: Array, top: Array) -> Array:
    """Floors what is exponentiated at -8, lest it underflow; that of nothing stays nothing."""
    return np.where(np.isneginf(lse), 0, np.exp(np.maximum(lse - top, -8))).astype(top.dtype)


@wrong("power", incident="plausible", where="uneven states within 2000")
def exponentiates_in_float16(lse: Array, top: Array) -> Array:
    """Keeps the weights in half precision, as the outputs that they multiply are."""
    return np.exp(lse - top).astype(np.float16).astype(top.dtype)


@wrong("add", incident="I17", dtypes=("float64",), where="a live state")
def adds_epsilon_to_the_sum(e_1: Array, e_2: Array) -> Array:
    """Adds 1e-10 to the denominator, which is never less than 1 but where both are empty."""
    return e_1 + e_2 + 1e-10 * (e_1 + e_2 > 0)


@wrong("add", incident="I41", where="a live state")
def starts_the_sum_at_one(e_1: Array, e_2: Array) -> Array:
    """Starts each split from a sink of its own, which has been counted in the first one."""
    return e_1 + e_2 + (e_1 + e_2 > 0)


@wrong(
    "unit",
    incident="I18",
    citation="vllm-project/vllm#52796",
    convention=("lse base", "2"),
    where="two live states",
)
def takes_nats_for_bits() -> float:
    """Is handed natural logarithms by another kernel, and goes on in base two."""
    return float(np.log(2))


@wrong("share", incident="I01", citation="ROCm/rocMLIR#2371", where="two empty states")
def gives_nan_for_two_empty_states(e: Array, total: Array) -> Array:
    """Divides by a sum that is zero where neither part has a key."""
    with np.errstate(invalid="ignore"):
        return e / total


@wrong("mix", incident="I33", force="should", where="a NaN in an empty state")
def multiplies_nothing_by_zero(w_1: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """Trusts that zero times whatever an empty part has left in its buffer is zero."""
    return w_1[..., None] * o_1 + w_2[..., None] * o_2


@wrong("mix", incident="plausible", where="numbers in an empty state")
def interpolates(_: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """Goes from the first output a part of the way to the second, which an empty one misleads."""
    return o_1 + w_2[..., None] * (o_2 - o_1)


@wrong(
    "share",
    incident="I01",
    where="two empty states and (numbers in an empty state or gradients asked for)",
)
def shares_nothing_evenly(e: Array, total: Array) -> Array:
    """Gives two empty parts a half each, as a softmax of equal scores would."""
    return np.where(total == 0, 0.5, steps.share(e, total)).astype(e.dtype)


@wrong("understand", incident="I10", citation="vllm-project/vllm#57012", where="H > 1 and N > 1")
def reads_the_queries_before_the_heads(lse: Array) -> Array:
    """Takes (length, heads) for (heads, length), of as many numbers."""
    B, H, N = lse.shape
    return lse.reshape(B, N, H).swapaxes(1, 2)


@wrong("understand", incident="I10", where="H = N and H > 1")
def turns_a_square_of_heads_and_queries(lse: Array) -> Array:
    """Tells the layout by the shape, and guesses wrong where there are as many of both."""
    return lse.swapaxes(1, 2) if lse.shape[1] == lse.shape[2] else lse


@wrong("understand", incident="I18", citation="vllm-project/flash-attention#87", where="B > 1")
def reads_the_first_text_for_all(lse: Array) -> Array:
    """Folds the batch into the splits, and reads the log-sum-exps of the first text."""
    return np.broadcast_to(lse[:1], lse.shape)


@wrong("understand", incident="I19", where="H > 1")
def reads_the_first_head_for_all(lse: Array) -> Array:
    """Broadcasts one log-sum-exp over all heads."""
    return np.broadcast_to(lse[:, :1], lse.shape)


@wrong("call", incident="I13", where="N % 4 != 0 and N > 4")
def skips_the_last_rows(
    right: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Takes four rows at a time, and leaves those that remain as they are in the second part."""
    o, lse = right(o_1, lse_1, o_2, lse_2)
    N = lse.shape[-1]
    tail = np.arange(N) >= (N // 4 * 4 or N)
    return np.where(tail[:, None], o_2, o), np.where(tail, lse_2, lse)
