"""Section B. Only inner products matter, in whatever basis they are written.

Queries and keys meet in <q_i, k_j> and nowhere else. Any invertible A may
therefore be put between them,

    o(q A, k A^-T) = o(q, k)

and with A = 1 + t X, differentiated in t at 0 for every X,

    q^T dq = (k^T dk)^T

whose trace says that <q, dq> = <k, dk>: stretching queries is the same as
stretching keys, and the same as a larger scale. Where all scores are equal, the
output is the plain mean of the values that may be seen.

The scale is 1 / sqrt(D) unless another one is asked for, and zero is one that
can be asked for (Vaswani et al. 2017, section 3.2.1).
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
    """The plain mean of the values that each query may see, or zero.   (B, H, N, E)"""
    count = np.maximum(problem.allowed.sum(axis=-1, keepdims=True), 1)
    v = definition.shared(problem.v, problem.H).astype(np.longdouble)
    return problem.allowed.astype(np.longdouble) @ v / count


def within_the_mean(flat: Problem) -> Array:
    """The budget of that mean where every exponential is exp(0).   (B, H, N, E)

    It is stored as exactly 1, which no format rounds; so weights get no allowance for being
    stored in 16 bits, if that is done before they are normalised (`flash`) or if their number
    is a power of two.
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
def coordinates_may_be_reordered(attention: Implementation, problem: Problem) -> None:
    """The columns of queries and keys may be permuted together, and their signs changed.

        o(q A, k A) = o(q, k)    for a signed permutation A

    A A^T = 1, so products change in nothing but the order of their terms. Centring each key on
    its own mean would survive a permutation; the signs stop it. Many columns are asked for,
    since a width that is compiled in loses those beyond it, and others once they are moved.
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
def bases_may_be_sheared(attention: Implementation, problem: Problem) -> None:
    """A shear of the queries is undone by the inverse shear, transposed, of the keys.

        o(q A, k A^-T) = o(q, k)    for A = 1 + e_0 e_(D-1)^T, if D > 1

    Lengths and angles change, and products do not. B1 alone would accept queries and keys that
    are normalised to length one first.
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
def longer_queries_are_longer_keys(attention: Implementation, problem: Problem) -> None:
    """A factor may move from the queries to the keys.

        o(2 q, k) = o(q, 2 k)

    The scores are the same, and a factor of two rounds nothing. Keys that are read as values,
    as they can be where D = E, would come out twice as large on the right.
    """
    left, right = problem.but(q=2 * problem.q), problem.but(k=2 * problem.k)

    o, p = attention.forward(left), attention.forward(right)

    equal(o, p, within=rounding.of_output(left) + rounding.of_output(right))


@clause("B4", over=Problems(), catches={"rounds_keys_down"})
def two_signs_cancel(attention: Implementation, problem: Problem) -> None:
    """Queries and keys may both change sign, and not a bit of the output does.

        o(-q, -k) = o(q, k)

    (-x)(-y) is xy in every format, to the bit. Rounding down, or any rounding that treats signs
    differently, does not survive.
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
def query_and_key_gradients_mirror(attention: Implementation, problem: Problem) -> None:
    """The products of queries with their gradients are those of keys with theirs, transposed.

        sum_h q_h^T dq_h = (k^T dk)^T    summed over the query heads h of a key head

    Both sides are scale sum_ij ds_ij q_i^T k_j, and their traces <q, dq> = <k, dk>. This is B2
    for A = 1 + t X, differentiated in t. Two gradients of zero pass; A2 and A3 reject them.
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
def a_query_of_zero_gives_the_mean(attention: Implementation, problem: Problem) -> None:
    """A query of zeros prefers no key.

        q_i = 0  implies  o_i = mean of v_j over the keys allowed to i

    Every exponential is 1, so next to nothing is rounded: whatever leans to one side shows.
    """
    flat = problem.but(q=np.zeros_like(problem.q))

    o = attention.forward(flat)

    equal(o, mean_of_the_visible(flat), within=within_the_mean(flat))


@clause(
    "B11",
    over=Problems(slopes=False, sinks=False, masks=UNBIASED),
    catches={"forgets_the_denominator", "favours_the_diagonal", "drops_the_lightest_key"},
)
def equal_keys_give_the_mean(attention: Implementation, problem: Problem) -> None:
    """If all keys agree, no query prefers one.

        k_j = c  implies  o_i = mean of v_j over the keys allowed to i

    All scores of a row are equal, to a number that S5 forgets and that, unlike in B10, need not
    be 0. A missing denominator shows, and a rule that drops the lightest key drops all.
    """
    flat = problem.but(k=problem.k[:, :, :1] + np.zeros_like(problem.k))

    o = attention.forward(flat)

    equal(o, mean_of_the_visible(flat), within=rounding.of_output(flat))
