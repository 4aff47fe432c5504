"""Section B. Only the inner products of queries and keys matter.

Queries and keys enter attention through <q_i, k_j> and nowhere else. So for any
invertible A,

    o(q A, k A^-T) = o(q, k)

and with A = 1 + t X, differentiated in t at 0 for every X,

    q^T dq = (k^T dk)^T

The trace gives <q, dq> = <k, dk>: scaling the queries has the same effect as
scaling the keys, or as a larger scale. If all scores are equal, the output is the
plain mean of the values of the visible keys.

The scale is 1 / sqrt(D) unless another one is given, and zero is a valid scale
(Vaswani et al. 2017, section 3.2.1).
"""

from __future__ import annotations

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import at_sizes
from spec.attention.record import Implementation
from spec.attention.rounding.linear import through
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.notation import Array

EXACT = Problems(families=("lattice", "ties"))
UNBIASED = (*PLAIN, *BOOLEAN)


def mean_of_the_visible(problem: Problem) -> Array:
    """The plain mean of the values that each query may attend to; zero if none.   (B, H, N, E)"""
    count = np.maximum(problem.allowed.sum(axis=-1, keepdims=True), 1)
    v = definition.shared(problem.v, problem.H).astype(np.longdouble)
    return problem.allowed.astype(np.longdouble) @ v / count


def within_the_mean(flat: Problem) -> Array:
    """The error bound of that mean if every exponential is exp(0) = 1.   (B, H, N, E)

    Every format stores 1 exactly. So storing weights in 16 bits adds no error if they are stored
    before normalisation (rounding model `flash`), or if the number of visible keys is a power of
    two.
    """
    count = flat.allowed.sum(axis=-1, keepdims=True)
    exact = (flat.rounding != "eager") | ((count & (count - 1)) == 0)
    return np.where(exact, rounding.of_mean(flat), rounding.of_output(flat))


@clause(
    "B1",
    over=Problems(wide=True),
    catches={"centres_each_key_on_its_own_mean", "reads_only_64_columns"},
    proof=at_sizes.only_inner_products_matter,
)
def permuting_q_and_k_columns_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """Permuting the columns of queries and keys together, and changing their signs together, leaves
    the output unchanged.

        o(q A, k A) = o(q, k)    for a signed permutation A

    A A^T = 1, so only the order of the terms in each inner product changes. The signs catch
    centring each key on its own mean, which a permutation alone would not. The domain draws large
    head sizes: a kernel with a fixed width drops the last columns, and the permutation changes
    which columns these are.
    """
    order = moves.permutation(problem, problem.D)
    signs = np.resize([-1.0, 1.0], problem.D)
    moved = problem.but(q=signs * problem.q[..., order], k=signs * problem.k[..., order])

    before, after = attention.forward(problem), attention.forward(moved)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(moved))


@clause(
    "B2",
    over=EXACT,
    catches={"normalises_queries_and_keys", "centres_each_key_on_its_own_mean"},
    proof=at_sizes.only_inner_products_matter,
)
def inverse_shears_of_queries_and_keys_cancel(attention: Implementation, problem: Problem) -> None:
    """A shear of the queries is undone by the transposed inverse shear of the keys.

        o(q A, k A^-T) = o(q, k)    for A = 1 + e_0 e_(D-1)^T, if D > 1

    Norms and angles change, but inner products do not. B1 alone would accept an implementation
    that first normalises queries and keys to length one.
    """
    q, k = problem.q.copy(), problem.k.copy()
    q[..., -1] += q[..., 0] if problem.D > 1 else 0
    k[..., 0] -= k[..., -1] if problem.D > 1 else 0
    moved = problem.but(q=q, k=k)

    before, after = attention.forward(problem), attention.forward(moved)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(moved))


@clause(
    "B3",
    over=Problems(families=("lattice", "ties"), equal_widths=True),
    catches={"reads_keys_as_values"},
)
def scaling_queries_equals_scaling_keys(attention: Implementation, problem: Problem) -> None:
    """Doubling all queries gives the same output as doubling all keys.

        o(2 q, k) = o(q, 2 k)

    The scores are the same, and a factor of two causes no rounding. If keys are read as values,
    which is possible where D = E, the right-hand side comes out twice as large.
    """
    left, right = problem.but(q=2 * problem.q), problem.but(k=2 * problem.k)

    o, p = attention.forward(left), attention.forward(right)

    equal(o, p, within=rounding.of_output(left) + rounding.of_output(right))


@clause("B4", over=Problems(), catches={"rounds_keys_down"}, promise="run")
def negating_queries_and_keys_changes_no_bit(attention: Implementation, problem: Problem) -> None:
    """Negating both queries and keys leaves the output unchanged, bit for bit.

        o(-q, -k) = o(q, k)

    Every product stays the same, because (-x)(-y) equals xy in every format, to the bit. The clause
    catches keys that are rounded down, and any other rounding that treats positive and negative
    numbers differently.
    """
    moved = problem.but(q=-problem.q, k=-problem.k)

    before, after = attention.forward(problem), attention.forward(moved)

    same_bits(after, before)


@clause(
    "B5",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "forgets_the_scale_of_key_gradients",
        "scales_query_gradients_twice",
        "returns_zero_query_gradients",
        "drops_the_last_query_from_key_gradients",
    },
    proof=at_sizes.query_gradients_mirror_key_gradients,
)
def query_and_key_gradient_products_agree(attention: Implementation, problem: Problem) -> None:
    """For each key head, the matrix q^T dq of its queries equals the transpose of k^T dk.

        sum_h q_h^T dq_h = (k^T dk)^T    summed over the query heads h of a key head

    Both sides are scale sum_ij ds_ij q_i^T k_j, with ds_ij the gradient of the score before any
    soft-cap. Their traces give <q, dq> = <k, dk>. This is o(q A, k A^-T) = o(q, k), as in B2, for
    A = 1 + t X, differentiated in t at 0. Two zero gradients pass here; A2 and A3 reject them.
    """
    gradients, budget = attention.backward(problem), rounding.of_gradients(problem)

    left = definition.gathered(problem.q.swapaxes(-1, -2) @ gradients.q, problem.G)
    right = problem.k.swapaxes(-1, -2) @ gradients.k

    of_left = definition.gathered(through(problem.q.swapaxes(-1, -2), budget.q), problem.G)
    of_right = through(problem.k.swapaxes(-1, -2), budget.k)
    equal(left, right.swapaxes(-1, -2), within=of_left + of_right.swapaxes(-1, -2))


@clause(
    "B10",
    over=Problems(slopes=False, sinks=False, masks=UNBIASED),
    catches={
        "favours_recent_keys",
        "favours_the_diagonal",
        "drops_the_last_key",
        "adds_one_to_the_denominator",
        "averages_two_halves",
        "truncates_the_output",
    },
)
def zero_query_returns_mean_of_values(attention: Implementation, problem: Problem) -> None:
    """A query of zeros returns the plain mean of the values of its visible keys.

        q_i = 0  implies  o_i = mean of v_j over the keys visible to i, zero if none is

    Here the problems have no biases and no attention sinks. Every exponential is then 1, and almost
    nothing is rounded. The clause therefore catches even a slight preference for some of the keys.
    """
    flat = problem.but(q=np.zeros_like(problem.q))

    o = attention.forward(flat)

    equal(o, mean_of_the_visible(flat), within=within_the_mean(flat))


@clause(
    "B11",
    over=Problems(slopes=False, sinks=False, masks=UNBIASED),
    catches={"forgets_the_denominator", "favours_the_diagonal", "drops_the_lightest_key"},
)
def equal_keys_return_mean_of_values(attention: Implementation, problem: Problem) -> None:
    """If all keys are equal, every query returns the plain mean of the values of its visible keys.

        k_j = c  implies  o_i = mean of v_j over the keys visible to i, zero if none is

    Here the problems have no biases. All scores of a row then equal one number, which cancels in
    the softmax (S5). Unlike in B10, this number need not be 0. The clause catches a missing
    denominator, and a rule that drops the keys of the lowest weight, which here drops all keys.
    """
    flat = problem.but(k=problem.k[:, :, :1] + np.zeros_like(problem.k))

    o = attention.forward(flat)

    equal(o, mean_of_the_visible(flat), within=rounding.of_output(flat))
