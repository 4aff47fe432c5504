"""Section R, concluded. ALiBi subtracts a penalty that is linear in the distance.

    b_ij = -m_h (i - j)    added to the score of query i and key j

The bias depends only on the distance (R35). If all scores are equal, causal weights fall from
each key to the one before it by the same ratio r = exp(-m_h). Attention is then a running
mean with exponential decay:

    a_ij = r^(i-j) (1 - r) / (1 - r^(i+1))    for j <= i              (R36)

A softmax depends only on differences within a row, so an implementation may count from any
origin. But i and j are positions: after a cache, the first row is not the row of position
zero (R37).
"""

import numpy as np

from spec.attention import definition as attention
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.positions import proofs
from spec.positions.alibi import definition, rounding
from spec.positions.alibi.definition import from_own_position
from spec.positions.alibi.domain import Biases
from spec.positions.alibi.notation import LinearBias, Problem


@clause(
    "R34",
    over=Biases(),
    catches={
        "rewards_distance",
        "takes_rows_from_the_start",
        "is_a_row_early_behind_a_cache",
        "takes_one_formula_for_all_heads",
        "counts_heads_from_zero",
        "scales_distance_by_length",
        "counts_distance_in_bfloat16",
        "squares_the_distance",
        "lifts_biases_above_zero",
    },
    effort=2,
)
def alibi_bias_is_linear_in_distance(bias: LinearBias, problem: Problem) -> None:
    """Each step further back lowers the bias of a key by the slope of the head.

        b_ij - b_ip = -m_h (p - j)    for j <= p, the position of query i

    The bias is compared relative to the query's own position, because a constant added to a whole
    row does not change a softmax.
    """
    b = bias.bias(problem)

    want = definition.bias(problem.in_reference())
    got = np.where(problem.past, from_own_position(b, problem), 0)
    within = np.where(problem.past, rounding.of_difference(problem, b), 0)
    equal(got, np.where(problem.past, want, 0), within=within)


@clause("R35", over=Biases(least=2), catches={"measures_distance_as_a_share"})
def alibi_bias_depends_only_on_distance(bias: LinearBias, problem: Problem) -> None:
    """The bias of a key depends on its distance from the query, not on its position.

        b_ij - b_ip = b_(i+1)(j+1) - b_(i+1)(p+1)    for past keys

    Here p is the position of query i. Each row is the row before it, shifted by one key. So the
    bias is a Toeplitz matrix, up to a constant in each row.
    """
    b = bias.bias(problem)

    seen, off = from_own_position(b, problem), rounding.of_difference(problem, b)
    past = problem.past[:-1, :-1]
    want = np.where(past, seen[:, :-1, :-1], 0)
    within = np.where(past, off[:, :-1, :-1] + off[:, 1:, 1:], 0)
    equal(np.where(past, seen[:, 1:, 1:], 0), want, within=within)


@clause(
    "R36",
    over=Biases(),
    catches={
        "rewards_distance",
        "takes_rows_from_the_start",
        "forgets_the_distance",
        "takes_one_formula_for_all_heads",
    },
    proof=proofs.weights_are_geometric,
)
def alibi_weights_decay_geometrically_without_scores(bias: LinearBias, problem: Problem) -> None:
    """If all scores are equal before the bias, and a causal mask is added, each key has exp(-m_h)
    times the weight of the next key.

        a_ij = r^(p-j) (1 - r) / (1 - r^(p+1)),    r = exp(-m_h)

    Here j <= p, and p is the position of query i. Attention is then a mean over past keys with
    exponential decay. If the slope is zero, every weight is 1 / (p + 1).
    """
    b = bias.bias(problem)

    weights = attention.softmax(np.where(problem.past, from_own_position(b, problem), -np.inf))
    want = definition.fading(problem.in_reference())
    within = rounding.of_weights(problem, b, want)
    equal(weights, want, within=within)


@clause(
    "R37",
    over=Biases(cached=True, near=True),
    catches={"takes_rows_from_the_start", "is_a_row_early_behind_a_cache"},
)
def alibi_rows_after_a_cache_are_the_last_rows(bias: LinearBias, problem: Problem) -> None:
    """The bias of the last queries equals the last rows of the bias of all queries.

        b(N, M) = b(M, M)[M - N:]    for past keys, up to a constant in each row

    Here b(N, M) is the bias of the last N of M tokens for the keys of all M tokens. With a cache,
    this matrix is not square, and its first row is not the row of position zero.
    """
    square = np.zeros((problem.H, problem.M, problem.M))
    whole_problem = problem.but(scores=square)

    whole, part = bias.bias(whole_problem), bias.bias(problem)

    kept, past = slice(problem.first, None), problem.past
    seen = from_own_position(whole, whole_problem)[:, kept]
    off = rounding.of_difference(whole_problem, whole)[:, kept]
    within = np.where(past, off + rounding.of_difference(problem, part), 0)
    got = np.where(past, from_own_position(part, problem), 0)
    equal(got, np.where(past, seen, 0), within=within)


@clause("R38", over=Biases(), catches={"leaves_the_future_infinite", "leaves_the_future_undefined"})
def alibi_bias_lets_a_mask_hide_future_keys(bias: LinearBias, problem: Problem) -> None:
    """The bias of a future key is finite or minus infinity, so that adding a mask of -inf masks
    the key.

        b_ij + (-inf) = -inf    for j > p, the position of query i

    If the bias is plus infinity or NaN, adding the mask gives NaN.
    """
    b = bias.bias(problem)

    ahead = b[:, ~problem.past]
    same_bits(ahead + -np.inf, np.full(ahead.shape, -np.inf))


@clause("R39", over=Biases(symmetric=True), catches={"claims_both_sides_of_one"})
def symmetric_alibi_bias_uses_absolute_distance(bias: LinearBias, problem: Problem) -> None:
    """If the convention `sides` is "both", a future key has the same bias as a past key at the
    same distance.

        b_ij - b_ip = -m_h |p - j|

    Here p is the position of query i, and m_h is the slope of head h. The published bias is causal;
    encoders use this symmetric form.
    """
    b = bias.bias(problem)

    want = definition.bias(problem.in_reference())
    equal(from_own_position(b, problem), want, within=rounding.of_difference(problem, b))


@clause(
    "R40",
    over=Biases(least=2),
    catches={"keeps_a_matrix_of_another_size", "keeps_slopes_of_another_head_count"},
    effort=2,
)
def no_stale_alibi_matrix_is_reused(bias: LinearBias, problem: Problem) -> None:
    """Calls with another length or head count return the right results, and do not change the
    result of the next call.

        calls b(x), b(y), b(z), b(x):    the last result equals the first, to the bit

    Here y is a shorter problem than x, and z has one more head. The matrix is the same for every
    layer and step, so programs keep it. A program that looks it up without the head count or a
    length returns the wrong matrix.
    """
    shorter = problem.but(scores=problem.scores[:, 1:, 1:])
    more = np.zeros((problem.H + 1, *problem.scores.shape[1:]))
    heads = problem.but(scores=more, asked=None)

    first = bias.bias(problem)
    between = [(other, bias.bias(other)) for other in (shorter, heads)]

    same_bits(bias.bias(problem), first)
    for other, b in between:
        want = np.where(other.past, definition.bias(other.in_reference()), 0)
        within = np.where(other.past, rounding.of_difference(other, b), 0)
        equal(np.where(other.past, from_own_position(b, other), 0), want, within=within)
