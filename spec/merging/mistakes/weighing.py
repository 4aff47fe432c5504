"""Known bugs in the merged output: wrong weights, or log-sum-exps of other rows."""

import numpy as np

from spec.merging.mistakes import steps
from spec.merging.mistakes.making import Right, wrong
from spec.notation import Array


@wrong("mix", incident="BUG-18", where="states that differ or an empty state with a nonempty one")
def averages_the_outputs(_: Array, o_1: Array, __: Array, o_2: Array) -> Array:
    """Returns the mean of the two outputs instead of their weighted mean."""
    return (o_1 + o_2) / 2


@wrong(
    "mix", incident="plausible", where="states that differ or an empty state with a nonempty one"
)
def swaps_the_weights(w_1: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """Multiplies each output by the weight of the other one."""
    return steps.mix(w_2, o_1, w_1, o_2)


@wrong("share", incident="BUG-17", where="two nonempty states")
def forgets_to_renormalise(e: Array, _: Array) -> Array:
    """Does not divide the weights exp(lse_i - max) by their sum."""
    return e


@wrong("larger", incident="BUG-17", where="log-sum-exps beyond 80")
def forgets_the_maximum(l_1: Array, _: Array) -> Array:
    """Computes exp(lse_i) without subtracting the maximum first, so it can overflow."""
    return np.zeros_like(l_1)


@wrong("larger", incident="BUG-17", where="rows 8 apart")
def subtracts_one_maximum_for_all(l_1: Array, l_2: Array) -> Array:
    """Subtracts one maximum of all rows, so rows far below it underflow."""
    both = np.concatenate([l_1.reshape(-1), l_2.reshape(-1)])
    return np.broadcast_to(steps.larger(both.max(), both.max()), l_1.shape)


@wrong("power", incident="BUG-17", where="states 8 apart")
def clamps_the_difference(lse: Array, top: Array) -> Array:
    """Replaces lse_i - max by -8 if it is lower, so a state far below gets too much weight."""
    return np.where(np.isneginf(lse), 0, np.exp(np.maximum(lse - top, -8))).astype(top.dtype)


@wrong("power", incident="plausible", where="states that differ within 2000")
def exponentiates_in_float16(lse: Array, top: Array) -> Array:
    """Rounds the exponentials exp(lse_i - max) to float16."""
    return np.exp(lse - top).astype(np.float16).astype(top.dtype)


@wrong("add", incident="BUG-17", dtypes=("float64",), where="a nonempty state")
def adds_epsilon_to_the_sum(e_1: Array, e_2: Array) -> Array:
    """Adds 1e-10 to the denominator, which is at least 1 unless both states are empty."""
    return e_1 + e_2 + 1e-10 * (e_1 + e_2 > 0)


@wrong("add", incident="BUG-41", where="a nonempty state")
def starts_the_sum_at_one(e_1: Array, e_2: Array) -> Array:
    """Adds 1 to the sum of exp(lse_i - max), as if every merge had an attention sink."""
    return e_1 + e_2 + (e_1 + e_2 > 0)


@wrong(
    "unit",
    incident="BUG-18",
    citation="vllm-project/vllm#52796",
    convention=("lse-base", "2"),
    where="two nonempty states",
)
def takes_nats_for_bits() -> float:
    """Treats natural log-sum-exps as base-2 logarithms."""
    return float(np.log(2))


@wrong("share", incident="BUG-01", citation="ROCm/rocMLIR#2371", where="two empty states")
def gives_nan_for_two_empty_states(e: Array, total: Array) -> Array:
    """Returns NaN for two empty states, because it divides by a sum of zero."""
    with np.errstate(invalid="ignore"):
        return e / total


@wrong("mix", incident="BUG-33", force="should", where="a NaN in an empty state")
def multiplies_nothing_by_zero(w_1: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """Multiplies the output of an empty state by zero, so a NaN in it reaches the result."""
    return w_1[..., None] * o_1 + w_2[..., None] * o_2


@wrong("mix", incident="plausible", where="numbers in an empty state")
def interpolates(_: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """Computes o_1 + w_2 (o_2 - o_1), so the output of an empty state can reach the result."""
    return o_1 + w_2[..., None] * (o_2 - o_1)


@wrong(
    "share",
    incident="BUG-01",
    where="two empty states and (numbers in an empty state or gradients asked for)",
)
def shares_nothing_evenly(e: Array, total: Array) -> Array:
    """Gives two empty states a weight of 1/2 each instead of zero."""
    return np.where(total == 0, 0.5, steps.share(e, total)).astype(e.dtype)


@wrong("understand", incident="BUG-10", citation="vllm-project/vllm#57012", where="H > 1 and N > 1")
def reads_the_queries_before_the_heads(lse: Array) -> Array:
    """Reads the memory of log-sum-exps (B, H, N) as (B, N, H), queries before heads."""
    B, H, N = lse.shape
    return lse.reshape(B, N, H).swapaxes(1, 2)


@wrong("understand", incident="BUG-10", where="H = N and H > 1")
def turns_a_square_of_heads_and_queries(lse: Array) -> Array:
    """Infers the layout of the log-sum-exps from their shape, and swaps H and N if H = N."""
    return lse.swapaxes(1, 2) if lse.shape[1] == lse.shape[2] else lse


@wrong("understand", incident="BUG-18", citation="vllm-project/flash-attention#87", where="B > 1")
def reads_the_first_text_for_all(lse: Array) -> Array:
    """Uses the log-sum-exps of the first batch element for all batch elements."""
    return np.broadcast_to(lse[:1], lse.shape)


@wrong("understand", incident="BUG-19", where="H > 1")
def reads_the_first_head_for_all(lse: Array) -> Array:
    """Uses the log-sum-exps of the first head for all heads."""
    return np.broadcast_to(lse[:, :1], lse.shape)


@wrong("call", incident="BUG-13", where="N % 4 != 0 and N > 4")
def skips_the_last_rows(
    right: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Merges queries four at a time, and returns the second state for the N % 4 left over."""
    o, lse = right(o_1, lse_1, o_2, lse_2)
    N = lse.shape[-1]
    tail = np.arange(N) >= (N // 4 * 4 or N)
    return np.where(tail[:, None], o_2, o), np.where(tail, lse_2, lse)
