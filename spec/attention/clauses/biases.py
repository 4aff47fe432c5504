"""Section M, continued. A bias is added to the scores, after the scale.

    s_ij = scale <q_i, k_j> + b_ij

Zero is no bias and -inf is a mask; everything between is a preference that a
large enough score overrules, and that says nothing where all are given the same.
What is constant along a row does nothing to the weights, so the gradients of a
row of biases sum to zero.
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

LOW = 0.6  # of the lowest number: in bits, 1.44 times as low, it is a number still
UNMASKED = Problems(masks=PLAIN, causal=False, shifts=True, sinks=False, slopes=False)

BESIDE = Problems(masks=ADDITIVE, causal=True, shifts=True, sinks=False, slopes=False)


def within_a_low_mean(flat: Problem, bias: Array) -> Array:
    """The budget of the mean of keys of one bias; merged parts feel how low it is."""
    return rounding.of_output(flat.but(mask=bias)) if flat.merged else within_the_mean(flat)


@clause(
    "M13",
    over=Problems(masks=(*BOOLEAN, *ADDITIVE)),
    needs={Capability.LSE},
    catches={"forgets_the_maximum_in_lse"},
    effort=3,
)
def more_keys_mean_a_larger_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Hiding keys never makes the log-sum-exp larger.

        lse(mask) <= lse(mask')    if mask' allows all that mask allows, with the same biases

    Every key adds a positive term to the sum. Forgetting the maximum can reverse this.
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
def a_bias_is_not_scaled(attention: Implementation, problem: Problem) -> None:
    """A bias is added after the scale, so the scale does not touch it.

        o(q = 0; bias, scale) = o(q = 0; bias, scale')

    A dropped bias does not depend on the scale either, so the output is checked by itself too.
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
    """A constant added to a row does nothing, so the gradients of a row of biases sum to zero.

        sum_j db_ij = 0

    This is S5 differentiated in c, and S13 seen from outside.
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
def a_low_bias_hides_nothing_by_itself(attention: Implementation, problem: Problem) -> None:
    """Where every bias is low, the keys whose bias is least low are seen.

        q_i = 0, b_ij in {c_i, 2 c_i}  implies  o_i = mean of v_j over the keys with b_ij = c_i

    exp(c_i) is nothing beside 1. That a row whose best score is -2^100 has a softmax like any
    other is forgotten by thresholds that stand for a mask, and by finite seeds of a maximum.
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
def the_lowest_bias_hides_nothing_by_itself(attention: Implementation, problem: Problem) -> None:
    """Where every bias is the lowest number there is, every key is seen.

        q_i = 0, b_ij = lowest  implies  o_i = mean of v_j over all keys

    Such rows are what padding on the left leaves where a mask is written with the lowest number
    for -inf. Whatever is added to it, or multiplied with it, may overflow: so only `should`.
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
def a_key_that_is_seen_outweighs_what_is_hidden(
    attention: Implementation, problem: Problem
) -> None:
    """However low the biases of the keys that a query sees, those of the future stay hidden.

        q_i = 0, b_ij = c for j that i sees and 0 for others
        implies  o_i = mean of v_j over the keys that i sees,    c = 0.6 of the lowest number

    A finite number that stands for -inf outweighs every score that is lower. (0.6 leaves room to
    count in bits, where scores are 1.44 times as large.)
    """
    flat, bias = _beside_what_is_hidden(problem, LOW)

    o = attention.forward(flat.but(mask=bias))

    equal(o, mean_of_the_visible(flat), within=within_a_low_mean(flat, bias))


@clause(
    "M28", over=BESIDE, catches={"fills_with_seven_tenths_of_the_lowest_number"}, force="should"
)
def the_lowest_bias_outweighs_what_is_hidden(attention: Implementation, problem: Problem) -> None:
    """Where the keys that a query sees have the lowest number as their bias, it sees these alone.

        q_i = 0, b_ij = lowest for j that i sees and 0 for others
        implies  o_i = mean of v_j over the keys that i sees

    Padding at the beginning of a text, written so, leaves a causal query nothing else: it returns
    the future where this has a higher number. As with M23, sums may overflow: so only `should`.
    """
    flat, bias = _beside_what_is_hidden(problem, 1)

    o = attention.forward(flat.but(mask=bias))

    equal(o, mean_of_the_visible(flat), within=within_a_low_mean(flat, bias))


def _beside_what_is_hidden(problem: Problem, part: float) -> tuple[Problem, Array]:
    """The problem without queries and mask, and this part of the lowest number where keys are seen.

    The bias is zero where they are not.   (B, H, N, M)
    """
    flat = problem.but(q=np.zeros_like(problem.q), mask=None)
    lowest = rounded(np.array(-part * FORMATS[problem.dtype].max), problem.dtype)
    return flat, np.where(flat.allowed, lowest, 0.0) + np.zeros(flat.allowed.shape)
