"""Section K. Adding one vector to all keys leaves the output unchanged.

A constant that is added to a row of scores does not change its softmax. Adding one
vector c to every key adds scale <q_i, c> to the whole of row i, so only the
log-sum-exp can depend on it:

    o(q, k + c, v) = o(q, k, v)    for every c                        (K1)

The key bias of a layer is such a c: it has no effect, and its gradient is zero.
Differentiate K1 in c at c = 0. For every loss,

    sum_j dk_j = 0                                                    (K2)

Shifted keys are drawn from a lattice of short numbers, so the shift itself causes no
rounding. A soft-cap does not preserve the differences between scores (section U), so K1
does not hold with one, and the clauses of this section exclude soft-caps.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_number_of_keys
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal
from spec.notation import Array

LATTICE = Problems(families=("lattice", "ties"), caps=False, sinks=False)
SHIFTS = (3.0, -2.0, 4.0, 1.0)  # far from zero, different along D, and exact in every format


def shift(problem: Problem) -> Array:
    """Return the vector c that is added to every key.   (D,)"""
    return np.resize(SHIFTS, problem.D)


@clause(
    "K1",
    over=LATTICE,
    catches={
        "normalises_queries_and_keys",
        "rounds_scores_to_bfloat16",
        "adds_one_to_the_denominator",
        "scores_padding_zero",
        "zeroes_forbidden_scores",
    },
    proof=any_number_of_keys.keys_have_no_origin,
)
def shifting_all_keys_leaves_output_unchanged(attention: Implementation, problem: Problem) -> None:
    """Adding one vector to every key leaves the output unchanged.

        o(q, k + c, v) = o(q, k, v)

    Row i of the scores gains the constant scale <q_i, c>, which has no effect (S5). Masked keys are
    shifted too, but a bug that gives them the score 0 does not shift that score.
    """
    moved = problem.but(k=problem.k + shift(problem))

    before, after = attention.forward(problem), attention.forward(moved)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(moved))


@clause(
    "K2",
    over=Problems(sinks=False, caps=False),
    needs={Capability.GRADIENTS},
    catches={
        "averages_the_row_term",
        "drops_the_row_term",
        "sums_dout_for_the_row_term",
        "differentiates_softmax_by_element",
    },
    proof=any_number_of_keys.key_gradients_sum_to_zero,
)
def key_gradients_sum_to_zero(attention: Implementation, problem: Problem) -> None:
    """The gradients of the keys sum to zero, for any loss of the output.

        sum_j dk_j = 0

    This is K1, o(k + c) = o(k), differentiated in c at c = 0. A gradient of zeros passes here; A3
    rejects it.
    """
    dk = attention.backward(problem).k

    want = np.zeros((problem.B, problem.G, problem.D))
    equal(dk.sum(axis=-2), want, within=rounding.of_gradients(problem).k.sum(axis=-2))


@clause(
    "K3",
    over=LATTICE,
    needs={Capability.LSE},
    catches={
        "measures_lse_in_base_two",
        "measures_lse_of_unscaled_scores",
        "forgets_the_maximum_in_lse",
    },
)
def shifting_all_keys_shifts_the_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Adding one vector to every key adds the score of that vector to the log-sum-exp.

        lse_i(k + c) = lse_i(k) + scale <q_i, c>

    Every score of query i gains c_i = scale <q_i, c>, which the log-sum-exp gains too (S6). The
    output does not change (K1). The clause fails for a wrong scale or base of the logarithm.
    """
    moved = problem.but(k=problem.k + shift(problem))

    before, after = attention.lse(problem), attention.lse(moved)

    want = before + definition.scale(problem) * (problem.q @ shift(problem))
    equal(after, want, within=rounding.of_lse(problem) + rounding.of_lse(moved))


@clause(
    "K4",
    over=LATTICE,
    needs={Capability.GRADIENTS},
    catches={"drops_the_row_term", "rounds_the_row_term_to_bfloat16"},
    proof=any_number_of_keys.gradients_have_no_origin_either,
)
def shifting_all_keys_leaves_gradients_unchanged(
    attention: Implementation, problem: Problem
) -> None:
    """Adding one vector to every key leaves every gradient of a loss of the output unchanged.

        dq(k + c) = dq(k),    dk(k + c) = dk(k),    dv(k + c) = dv(k)

    This is K1 differentiated in q, k and v. For dq it implies again that the score gradients of a
    query sum to zero (S13).
    """
    moved = problem.but(k=problem.k + shift(problem))

    before, after = attention.backward(problem), attention.backward(moved)

    here, there = rounding.of_gradients(problem), rounding.of_gradients(moved)
    equal(after.q, before.q, within=here.q + there.q)
    equal(after.k, before.k, within=here.k + there.k)
    equal(after.v, before.v, within=here.v + there.v)


@clause(
    "K5",
    over=Problems(
        masks=PLAIN, causal=False, caps=False, families=("lattice", "ties"), scales=("asked",)
    ),
    needs={Capability.BIAS},
    catches={
        "scales_the_bias_too",
        "subtracts_the_bias",
        "drops_the_finite_bias",
        "reads_the_bias_as_a_mask",
    },
)
def shifting_all_queries_equals_adding_a_key_bias(
    attention: Implementation, problem: Problem
) -> None:
    """Adding one vector to every query gives each key a bias: its scaled product with that vector.

        o(q + c, k) = o(q, k; b_j = scale <c, k_j>)

    <q_i + c, k_j> is a sum of two products, and only the first depends on the query. With c the
    first unit vector and scale = 1/2 the bias is exact. A bug that scales the bias again halves it.
    """
    problem = problem.but(scale=0.5)
    unit = np.eye(1, problem.D)[0]
    first = definition.shared(problem.k, problem.H)[..., 0]
    biased = problem.but(mask=problem.scale * first[:, :, None, :])
    moved = problem.but(q=problem.q + unit)

    o, p = attention.forward(moved), attention.forward(biased)

    equal(o, p, within=rounding.of_output(moved) + rounding.of_output(biased))
