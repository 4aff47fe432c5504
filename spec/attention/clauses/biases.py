"""Section M, continued. A bias is added to the scores after scaling.

    s_ij = scale <q_i, k_j> + b_ij

A bias of zero changes nothing, and -inf masks the key. A bias in between is a
preference that a large enough score overrules. Without a sink, a bias that is constant
along a row does not change the weights, so the gradients of a row of biases sum to zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec.attention import masks, moves, rounding
from spec.attention.clauses.bases import mean_of_the_visible, within_the_mean
from spec.attention.domain import ADDITIVE, BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, equal
from spec.formats import FORMATS, rounded
from spec.notation import Array

LOW = 0.6  # times the lowest finite number: still finite in base 2, 1.44 times as large
UNMASKED = Problems(masks=PLAIN, causal=False, shifts=True, sinks=False, slopes=False)

BESIDE = Problems(masks=ADDITIVE, causal=True, shifts=True, sinks=False, slopes=False)


def within_a_low_mean(flat: Problem, bias: Array) -> Array:
    """The error bound of the mean of keys with one bias, which matters only for merged parts."""
    return rounding.of_output(flat.but(mask=bias)) if flat.merged else within_the_mean(flat)


@clause(
    "M13",
    over=Problems(masks=(*BOOLEAN, *ADDITIVE)),
    needs={Capability.LSE},
    catches={"forgets_the_maximum_in_lse"},
    effort=3,
)
def masking_keys_never_increases_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Masking keys never increases the log-sum-exp.

        lse(mask) <= lse(mask')    if mask' allows all that mask allows, with the same biases

    Every visible key adds a positive term to the sum. A log-sum-exp that forgets to add the maximum
    back can violate this.
    """
    freed = problem.but(mask=None)
    if problem.mask is not None and problem.mask.dtype != bool:
        freed = problem.but(mask=np.where(problem.allowed, problem.mask, 0.0), causal=False)

    less, more = attention.lse(problem), attention.lse(freed)

    at_least(more, less, within=rounding.of_lse(problem) + rounding.of_lse(freed))


@clause(
    "M16",
    over=Problems(masks=ADDITIVE),
    needs={Capability.SCALE},
    catches={
        "scales_the_bias_too",
        "rounds_the_bias_to_bfloat16",
        "drops_the_finite_bias",
        "subtracts_the_bias",
    },
    effort=2,
)
def bias_is_not_scaled(attention: Implementation, problem: Problem) -> None:
    """A bias is added after scaling, so the scale does not change it.

        o(q = 0; bias, scale) = o(q = 0; bias, scale')

    If the bias is dropped, the output does not depend on the scale either. So the output is also
    compared with the definition.
    """
    here = problem.but(q=np.zeros_like(problem.q), scale=0.25)
    there = here.but(scale=2.0)

    o, p = attention.forward(here), attention.forward(there)

    equal(o, p, within=rounding.of_output(here) + rounding.of_output(there))
    equal(o, rounding.reference(here).o, within=rounding.of_output(here))


@clause(
    "M17",
    over=Problems(sinks=False, masks=ADDITIVE, shifts=True),
    needs={Capability.GRADIENTS, Capability.BIAS_GRADIENT},
    catches={"drops_the_row_term", "differentiates_softmax_by_element"},
    proof=exactly.bias_gradients_add_to_nothing,
)
def bias_gradients_sum_to_zero(attention: Implementation, problem: Problem) -> None:
    """The gradients of a row of biases sum to zero, because adding a constant to the row does not
    change the output.

        sum_j db_ij = 0

    This is S5 (a constant added to all scores) differentiated in the constant. It is also S13
    (score gradients sum to zero), observed through the gradient of the bias.
    """
    full = moves.written_out(problem)

    db = attention.bias_gradient(full)

    budget = rounding.of_gradients(full).bias
    assert budget is not None
    equal(db.sum(axis=-1), np.zeros(db.shape[:-1]), within=budget.sum(axis=-1))


@clause(
    "M22",
    over=replace(UNMASKED, segments=False),
    needs={Capability.BIAS},
    catches={
        "takes_low_biases_for_a_mask",
        "clips_large_biases",
        "starts_the_maximum_at_minus_1e30",
        "starts_the_maximum_at_minus_fifty_thousand",
        "merges_halves_by_what_was_rounded",
    },
)
def largest_of_very_negative_biases_still_wins(attention: Implementation, problem: Problem) -> None:
    """If every bias of a row is very negative, the keys with the largest bias still take
    all of the weight.

        q_i = 0, b_ij in {c_i, 2 c_i}  implies  o_i = mean of v_j over the keys with b_ij = c_i

    Here c_i is far below zero, so exp(c_i) is negligible compared with 1. A row whose largest score
    is -2^100 has a softmax like any other row. The clause catches thresholds below which a bias
    counts as a mask, and a running maximum that starts from a finite number.
    """
    bias, least_low = masks.low(problem.chance(), problem.N, problem.M, problem.dtype)
    flat = problem.but(q=np.zeros_like(problem.q), mask=least_low)

    o = attention.forward(flat.but(mask=bias))

    alone = np.where(least_low, bias, -np.inf)
    equal(o, mean_of_the_visible(flat), within=within_a_low_mean(flat, alone))


@clause(
    "M23",
    over=UNMASKED,
    needs={Capability.BIAS},
    catches={"takes_scores_in_bits_too_early"},
    force="should",
)
def lowest_finite_bias_on_all_keys_masks_none(attention: Implementation, problem: Problem) -> None:
    """If every bias of a row is the lowest finite number of the format, the biases mask no key.

        q_i = 0, b_ij = lowest  implies  o_i = mean of v_j over all keys (of its segment)

    Padding on the left leaves such rows if a mask is written with the lowest finite number in place
    of -inf. Adding to that number, or multiplying it, may overflow, so this is only a `should`.
    """
    flat = problem.but(q=np.zeros_like(problem.q))
    lowest = np.full((problem.N, problem.M), -FORMATS[problem.dtype].max)

    o = attention.forward(flat.but(mask=lowest))

    equal(o, mean_of_the_visible(flat), within=within_a_low_mean(flat, lowest))


@clause(
    "M27",
    over=BESIDE,
    catches={
        "fills_with_half_of_the_lowest_number",
        "fills_with_minus_thirty_thousand",
        "fills_with_minus_1e30",
        "adds_minus_a_billion",
    },
)
def causal_mask_holds_at_very_low_biases(attention: Implementation, problem: Problem) -> None:
    """Even if the biases of all visible keys are very low, keys in the future stay masked.

        q_i = 0, b_ij = c for j visible to i and 0 for others
        implies  o_i = mean of v_j over the keys visible to i,    c = 0.6 of the lowest number

    If a finite number stands in for -inf, masked keys outweigh visible keys with lower scores. The
    factor 0.6 leaves room for scores in base 2, which are 1.44 times as large.
    """
    flat, bias = _beside_what_is_hidden(problem, LOW)

    o = attention.forward(flat.but(mask=bias))

    equal(o, mean_of_the_visible(flat), within=within_a_low_mean(flat, bias))


@clause(
    "M28", over=BESIDE, catches={"fills_with_seven_tenths_of_the_lowest_number"}, force="should"
)
def causal_mask_holds_at_lowest_finite_bias(attention: Implementation, problem: Problem) -> None:
    """Even if the biases of all visible keys are the lowest finite number, keys in the future stay
    masked.

        q_i = 0, b_ij = lowest for j visible to i and 0 for others
        implies  o_i = mean of v_j over the keys visible to i

    If left padding is written with that number, the first causal queries have no other keys. They
    return future values if masked keys have a higher score. As in M23, sums may overflow, so this
    is only a `should`.
    """
    flat, bias = _beside_what_is_hidden(problem, 1)

    o = attention.forward(flat.but(mask=bias))

    equal(o, mean_of_the_visible(flat), within=within_a_low_mean(flat, bias))


def _beside_what_is_hidden(problem: Problem, part: float) -> tuple[Problem, Array]:
    """The problem with zero queries and no mask, and a bias: `part` times the lowest finite number.

    The bias is zero where a key is masked.   (B, H, N, M)
    """
    flat = problem.but(q=np.zeros_like(problem.q), mask=None)
    lowest = rounded(np.array(-part * FORMATS[problem.dtype].max), problem.dtype)
    return flat, np.where(flat.allowed, lowest, 0.0) + np.zeros(flat.allowed.shape)
