"""The softmax: over which axis, without overflow, and normalised by its own sum.

Small scores forgive nearly everything here. Rows that sum to something else
than one, scores of a thousand, and rows far below each other do not.
"""

import numpy as np

from spec.attention.mistakes.exponentials import divided, forbid, softmax, top
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import weigh
from spec.notation import Array


def powers(s: Array, allowed: Array, least: float = -np.inf) -> Array:
    """exp(s - max s), of a maximum that is `least` at least; zero where a key is forbidden."""
    hidden = forbid(s, allowed)
    return np.exp(hidden - np.maximum(top(hidden), least))


def normalised(e: Array, extra: float = 0.0) -> Array:
    """e over its sum, to which `extra` is added."""
    return divided(e, e.sum(axis=-1, keepdims=True) + e.dtype.type(extra))


def along(axis: int, s: Array, allowed: Array) -> Array:
    """The softmax along another axis than that of the keys."""
    return softmax(forbid(s, allowed).swapaxes(axis, -1)).swapaxes(axis, -1)


@wrong(
    "weigh",
    incident="I16",
    citation="labmlai/annotated_deep_learning_paper_implementations#146",
    where="N > 1 or M > 1",
)
def normalises_over_queries(s: Array, allowed: Array) -> Array:
    """Takes the softmax along the axis of the queries."""
    return along(-2, s, allowed)


@wrong("weigh", incident="I16", where="H > 1 or M > 1")
def normalises_over_heads(s: Array, allowed: Array) -> Array:
    """Takes the softmax along dim=1, which was the axis of the keys before there were heads."""
    return along(1, s, allowed)


@wrong("weigh", incident="I16", where="B > 1 or M > 1")
def normalises_over_the_batch(s: Array, allowed: Array) -> Array:
    """Takes the softmax along dim=0, which is one for a batch of one."""
    return along(0, s, allowed)


@wrong("weigh", incident="S1", where="scores beyond 50")
def skips_the_maximum(s: Array, allowed: Array) -> Array:
    """Takes the exponential of the scores as they are, which overflows beyond 88."""
    return normalised(np.exp(forbid(s, allowed)))


@wrong("weigh", incident="I17", citation="uTensor/uTensor#176", where="scores below -50")
def starts_the_maximum_at_zero(s: Array, allowed: Array) -> Array:
    """Seeds the running maximum with 0, so that rows far below it vanish."""
    return normalised(powers(s, allowed, least=0))


@wrong(
    "weigh", incident="I11", citation="flashinfer-ai/flashinfer#4267", where="scores below -30000"
)
def starts_the_maximum_at_minus_fifty_thousand(s: Array, allowed: Array) -> Array:
    """Seeds the running maximum with a finite number that stands for -inf."""
    return normalised(powers(s, allowed, least=-5e4))


@wrong("weigh", incident="I11", citation="ROCm/aiter#5086", where="scores below -1e30")
def starts_the_maximum_at_minus_1e30(s: Array, allowed: Array) -> Array:
    """Seeds the running maximum with a number that no score is thought to reach."""
    return normalised(powers(s, allowed, least=-1e30))


@wrong(
    "weigh",
    incident="I11",
    citation="huggingface/transformers#31303",
    force="should",
    where="scores below -1e30",
)
def takes_scores_in_bits_too_early(s: Array, allowed: Array) -> Array:
    """Multiplies scores by log2 e before anything is subtracted: the lowest becomes -inf."""
    hidden = forbid(s * s.dtype.type(np.log2(np.e)), allowed)
    return normalised(np.exp2(hidden - top(hidden)))


@wrong("weigh", incident="I17", where="scores 80 apart")
def subtracts_one_maximum_for_all(s: Array, allowed: Array) -> Array:
    """Subtracts the largest score of the whole tensor, so that low rows vanish."""
    hidden = forbid(s, allowed)
    return normalised(np.exp(hidden - top(hidden.reshape(-1)).reshape(1, 1, 1, 1)))


@wrong("weigh", incident="I17", where="M > 1")
def exponentiates_in_base_two(s: Array, allowed: Array) -> Array:
    """Uses the fast exp2, and forgets the factor log2(e)."""
    hidden = forbid(s, allowed)
    return normalised(np.exp2(hidden - top(hidden)))


@wrong("weigh", incident="I17")
def adds_epsilon_to_the_denominator(s: Array, allowed: Array) -> Array:
    """Adds 1e-5 to the sum, to be safe from zero."""
    return normalised(powers(s, allowed), 1e-5)


@wrong("weigh", incident="I17")
def adds_one_to_the_denominator(s: Array, allowed: Array) -> Array:
    """Gives every row the choice of attending to nothing, with a score of 0."""
    hidden = forbid(s, allowed)
    largest = np.maximum(top(hidden), 0)
    e = np.exp(hidden - largest)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(-largest))


@wrong("weigh", incident="I17", where="M > 1")
def forgets_the_denominator(s: Array, allowed: Array) -> Array:
    """Leaves the division for later, and later never comes."""
    return powers(s, allowed)


@wrong(
    "weigh",
    incident="I17",
    citation="torch-spyre/torch-spyre#4522",
    where="a hidden key or weights below 0.0001",
)
def floors_the_exponential(s: Array, allowed: Array) -> Array:
    """Has an exponential that saturates above zero, so that forbidden keys keep a weight."""
    return normalised(np.maximum(powers(s, allowed), 2.0**-24))


@wrong("weigh", incident="I17", where="scores beyond 50 and M > 1")
def clips_scores_at_fifty(s: Array, allowed: Array) -> Array:
    """Clips the scores to what the exponential can take."""
    return weigh(np.clip(s, -50, 50), allowed)


@wrong("weigh", incident="I33", citation="pytorch/pytorch#141128", force="should", where="a NaN")
def swallows_nan(s: Array, allowed: Array) -> Array:
    """Makes idle rows zero by replacing every NaN, also those that have a cause."""
    return np.nan_to_num(weigh(s, allowed))
