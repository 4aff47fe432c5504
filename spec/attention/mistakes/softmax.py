"""Known bugs of the softmax: over a wrong axis, with overflow, or with a wrong denominator.

Small scores hide most of these bugs. Three things show them: weights that do not sum to one,
scores of a thousand, and queries whose scores are far below those of other queries.
"""

import math

import numpy as np

from spec.attention.mistakes.exponentials import divided, forbid, softmax, top
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import weigh
from spec.notation import Array


def powers(s: Array, allowed: Array, least: float | Array = -np.inf) -> Array:
    """exp(s - m) with m = max(max s, `least`), and zero where a key is masked."""
    hidden = forbid(s, allowed)
    return np.exp(hidden - np.maximum(top(hidden), least))


def normalised(e: Array, extra: float = 0.0) -> Array:
    """e divided by (its sum over the keys + `extra`)."""
    return divided(e, e.sum(axis=-1, keepdims=True) + e.dtype.type(extra))


def along(axis: int, s: Array, allowed: Array) -> Array:
    """The softmax along `axis` instead of the axis of the keys."""
    return softmax(forbid(s, allowed).swapaxes(axis, -1)).swapaxes(axis, -1)


@wrong(
    "weigh",
    incident="BUG-16",
    citation="labmlai/annotated_deep_learning_paper_implementations#146",
    where="N > 1 or M > 1",
)
def normalises_over_queries(s: Array, allowed: Array) -> Array:
    """Normalises the weights over the queries instead of the keys."""
    return along(-2, s, allowed)


@wrong("weigh", incident="BUG-16", where="H > 1 or M > 1")
def normalises_over_heads(s: Array, allowed: Array) -> Array:
    """Normalises the weights over axis 1, the heads, instead of the keys."""
    return along(1, s, allowed)


@wrong("weigh", incident="BUG-16", where="B > 1 or M > 1")
def normalises_over_the_batch(s: Array, allowed: Array) -> Array:
    """Normalises over axis 0, the batch, not over the keys: visible keys weigh 1 if B = 1."""
    return along(0, s, allowed)


@wrong("weigh", incident="einsum-layer", where="scores beyond 50")
def skips_the_maximum(s: Array, allowed: Array) -> Array:
    """Does not subtract the maximum before exp, which overflows float32 for scores above 88."""
    e = np.exp(forbid(s, allowed))
    return np.where(allowed.any(axis=-1, keepdims=True), e / e.sum(axis=-1, keepdims=True), 0)


@wrong("weigh", incident="BUG-17", citation="uTensor/uTensor#176", where="scores below -50")
def starts_the_maximum_at_zero(s: Array, allowed: Array) -> Array:
    """Starts the running maximum at 0, so weights underflow if all scores are far below 0."""
    return normalised(powers(s, allowed, least=0))


@wrong(
    "weigh",
    incident="BUG-17",
    citation="Dao-AILab/flash-attention#2082",
    where="scores below -50 and M > 16",
)
def keeps_zero_as_the_maximum_of_a_hidden_tile(s: Array, allowed: Array) -> Array:
    """Reads the last tile of keys first, and takes 0 for its maximum where all of it is hidden."""
    last = (s.shape[-1] - 1) // 16 * 16
    hidden = ~allowed[..., last:].any(axis=-1, keepdims=True)
    return normalised(powers(s, allowed, least=np.where(hidden, 0, -np.inf)))


@wrong(
    "weigh",
    incident="BUG-11",
    citation="flashinfer-ai/flashinfer#4267",
    where="scores below -30000",
)
def starts_the_maximum_at_minus_fifty_thousand(s: Array, allowed: Array) -> Array:
    """Starts the running maximum at -50000, so weights underflow if all scores are far below it."""
    return normalised(powers(s, allowed, least=-5e4))


@wrong("weigh", incident="BUG-11", citation="ROCm/aiter#5086", where="scores below -1e30")
def starts_the_maximum_at_minus_1e30(s: Array, allowed: Array) -> Array:
    """Starts the running maximum at -1e30, so weights underflow if all scores are far below it."""
    return normalised(powers(s, allowed, least=-1e30))


@wrong(
    "weigh",
    incident="BUG-11",
    citation="huggingface/transformers#31303",
    force="should",
    where="scores below -1e30",
)
def takes_scores_in_bits_too_early(s: Array, allowed: Array) -> Array:
    """Multiplies scores by log2(e) before subtracting the maximum, so very low ones become -inf."""
    hidden = forbid(s * s.dtype.type(np.log2(math.e)), allowed)
    return normalised(np.exp2(hidden - top(hidden)))


@wrong("weigh", incident="BUG-17", where="scores 80 apart")
def subtracts_one_maximum_for_all(s: Array, allowed: Array) -> Array:
    """Subtracts one maximum for the whole tensor, so queries with much lower scores underflow."""
    hidden = forbid(s, allowed)
    return normalised(np.exp(hidden - top(hidden.reshape(-1)).reshape(1, 1, 1, 1)))


@wrong("weigh", incident="BUG-17", where="M > 1")
def exponentiates_in_base_two(s: Array, allowed: Array) -> Array:
    """Computes 2^s instead of exp(s): it uses exp2 without the factor log2(e)."""
    hidden = forbid(s, allowed)
    return normalised(np.exp2(hidden - top(hidden)))


@wrong("weigh", incident="BUG-17")
def adds_epsilon_to_the_denominator(s: Array, allowed: Array) -> Array:
    """Adds 1e-5 to the softmax denominator to avoid a division by zero."""
    return normalised(powers(s, allowed), 1e-5)


@wrong("weigh", incident="BUG-17")
def adds_one_to_the_denominator(s: Array, allowed: Array) -> Array:
    """Adds exp(0) to the softmax denominator, like a further key of score 0 and value 0."""
    hidden = forbid(s, allowed)
    largest = np.maximum(top(hidden), 0)
    e = np.exp(hidden - largest)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(-largest))


@wrong("weigh", incident="BUG-17", where="M > 1")
def forgets_the_denominator(s: Array, allowed: Array) -> Array:
    """Does not divide by the softmax denominator."""
    return powers(s, allowed)


@wrong(
    "weigh",
    incident="BUG-17",
    citation="torch-spyre/torch-spyre#4522",
    where="a masked key or weights below 0.0001",
)
def floors_the_exponential(s: Array, allowed: Array) -> Array:
    """Uses an exponential that is never below 2^-24, so masked keys keep some weight."""
    return normalised(np.maximum(powers(s, allowed), 2.0**-24))


@wrong("weigh", incident="BUG-17", where="scores beyond 50 and M > 1")
def clips_scores_at_fifty(s: Array, allowed: Array) -> Array:
    """Clips scores at -50 and 50 so that the exponential does not overflow."""
    return weigh(np.clip(s, -50, 50), allowed)


@wrong("weigh", incident="BUG-33", citation="pytorch/pytorch#141128", force="should", where="a NaN")
def swallows_nan(s: Array, allowed: Array) -> Array:
    """Replaces every NaN in the weights by 0, not only the NaN of a fully masked query."""
    return np.nan_to_num(weigh(s, allowed))
