"""Section S, continued. The Jacobian of a softmax has a row term.

    da_j / ds_l = a_j (delta_jl - a_l),    that is  J = diag(a) - a a^T

J is symmetric and positive semidefinite, and J 1 = 0 because the weights sum to
one for any scores. A common bug in hand-written backward passes is to use only its
diagonal, a_j (1 - a_j). This omits the row term, which makes the score gradients
sum to zero.

With k = v = I and scale = 1 the queries are the scores. Every attention function that
has gradients can therefore compute J g.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_number_of_keys
from spec.attention.record import Implementation
from spec.attention.rounding.linear import weighted
from spec.clause import clause
from spec.comparison import at_least, equal


def as_softmax(problem: Problem) -> Problem:
    """Return the problem whose output is softmax(queries): k = v = I, scale 1, D = E = M."""
    B, H, N, M = problem.B, problem.H, problem.N, problem.M
    eye = np.broadcast_to(np.eye(M), (B, problem.G, M, M)).copy()
    q, dout = np.resize(problem.q, (B, H, N, M)), np.resize(problem.dout, (B, H, N, M))
    return problem.but(q=q, k=eye, v=eye, dout=dout, scale=1.0)


@clause(
    "S11",
    over=Problems(sinks=False),
    needs={Capability.GRADIENTS},
    catches={
        "differentiates_softmax_by_element",
        "drops_the_row_term",
        "sums_dout_for_the_row_term",
    },
    proof=any_number_of_keys.score_gradients_sum_to_zero,
)
def equal_values_give_zero_query_and_key_gradients(
    attention: Implementation, problem: Problem
) -> None:
    """If all values are equal, the scores do not matter: queries and keys have zero gradients.

        v_j = c  implies  dq = 0  and  dk = 0

    This is V2 (equal values) differentiated in q and k. The element-wise derivative a (1 - a) fails
    here, because it ignores that the weights sum to one.
    """
    constant = problem.but(v=problem.v[:, :, :1] + np.zeros_like(problem.v))

    gradients, budget = attention.backward(constant), rounding.of_gradients(constant)

    equal(gradients.q, 0 * problem.q, within=budget.q)
    equal(gradients.k, 0 * problem.k, within=budget.k)


SOFTMAX = Problems(
    masks=PLAIN,
    causal=False,
    caps=False,
    sinks=False,
    modest=True,
    families=("lattice", "normal", "ties"),
)
SOFTMAX_NEEDS = frozenset({Capability.GRADIENTS, Capability.SCALE})


@clause(
    "S12",
    over=SOFTMAX,
    needs=SOFTMAX_NEEDS,
    catches={
        "differentiates_softmax_by_element",
        "returns_zero_query_gradients",
        "detaches_the_weights",
        "averages_the_row_term",
        "differentiates_at_the_default_scale",
    },
    proof=any_number_of_keys.the_gradient_of_softmax,
)
def softmax_gradient_subtracts_the_weighted_mean(
    attention: Implementation, problem: Problem
) -> None:
    """The gradient of a softmax subtracts the weighted mean of the cotangent from each entry.

        ds_j = a_j (g_j - sum_l a_l g_l)

    With k = v = I and scale = 1 the queries are the scores, apart from ALiBi slopes, and dout is
    the cotangent g. A bug that subtracts the plain mean of g shows wherever the weights differ.
    """
    x = as_softmax(problem)
    a, g = definition.weights(x.wide()), x.dout

    ds = attention.backward(x).q

    equal(ds, a * (g - (a * g).sum(-1, keepdims=True)), within=rounding.of_gradients(x).q)


@clause(
    "S13",
    over=SOFTMAX,
    needs=SOFTMAX_NEEDS,
    catches={
        "differentiates_softmax_by_element",
        "drops_the_row_term",
        "adds_the_row_term",
        "rounds_the_row_term_to_bfloat16",
    },
    proof=any_number_of_keys.score_gradients_sum_to_zero,
)
def score_gradients_sum_to_zero(attention: Implementation, problem: Problem) -> None:
    """The derivatives by the scores of one query sum to zero, for any loss of the output.

        sum_j ds_j = 0

    This is S5 (scores plus a constant) differentiated in the constant. In ds_j = a_j (g_j - r),
    with g_j the derivative by a_j, the row term r is the weighted mean of g (S12). The weights sum
    to one, so the sum of all ds_j has the whole error of r.
    """
    x = as_softmax(problem)

    ds = attention.backward(x).q

    equal(ds.sum(axis=-1), np.zeros(ds.shape[:-1]), within=rounding.of_gradients(x).q.sum(-1))


@clause(
    "S14",
    over=SOFTMAX,
    needs=SOFTMAX_NEEDS,
    catches={
        "sums_dout_for_the_row_term",
        "averages_the_row_term",
        "differentiates_with_unmerged_sums",
    },
    proof=any_number_of_keys.the_jacobian_is_symmetric_and_positive,
)
def softmax_jacobian_is_symmetric_positive_semidefinite(
    attention: Implementation, problem: Problem
) -> None:
    """The Jacobian of a softmax is a symmetric matrix without negative eigenvalues.

        <h, J g> = <g, J h>,    <g, J g> >= 0    with J = diag(a) - a a^T

    It is the second derivative of the log-sum-exp, which is convex, and <g, J g> is the variance of
    g under the weights.
    """
    x = as_softmax(problem)
    g, h = x.dout, np.flip(x.dout, axis=-1)
    y = x.but(dout=h)

    Jg, Jh = attention.backward(x).q, attention.backward(y).q
    of_g, of_h = rounding.of_gradients(x).q, rounding.of_gradients(y).q

    within = (weighted(h, of_g) + weighted(g, of_h)).sum(axis=-1)
    equal((h * Jg).sum(axis=-1), (g * Jh).sum(axis=-1), within=within)
    at_least((g * Jg).sum(axis=-1), 0, within=weighted(g, of_g).sum(axis=-1))
