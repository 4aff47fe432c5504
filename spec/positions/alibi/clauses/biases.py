"""Section R, concluded. A linear bias fades what is far, each head at a rate of its own.

    b_ij = -m_h (i - j)    added to the score of query i and key j

It depends on the distance alone (R35). Without scores the weights fall by the same
ratio r = exp(-m_h) from each key to the next, so attention is a running mean that forgets:

    a_ij = r^(i-j) (1 - r) / (1 - r^(i+1))                            (R36)

Of the matrix a softmax sees only differences in a row, so a program may begin to count
where it likes; but i and j are positions, and behind a cache the first row is not that of
position zero (R37).
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
def the_bias_is_linear_in_the_distance(bias: LinearBias, problem: Problem) -> None:
    """Every step back costs a key the slope of the head.

        b_ij - b_ip = -m_h (p - j)    for j <= p, the position of query i

    From the own position, as a softmax forgets what all keys of a row share.
    """
    b = bias.bias(problem)

    want = definition.bias(problem.in_reference())
    got = np.where(problem.past, from_own_position(b, problem), 0)
    within = np.where(problem.past, rounding.of_difference(problem, b), 0)
    equal(got, np.where(problem.past, want, 0), within=within)


@clause("R35", over=Biases(least=2), catches={"measures_distance_as_a_share"})
def only_the_distance_counts(bias: LinearBias, problem: Problem) -> None:
    """What a key is charged depends on how far behind it lies, not on where.

        b_ij - b_ip = b_(i+1)(j+1) - b_(i+1)(p+1)    for keys of the past

    The rows of a bias are one row, shifted: a Toeplitz matrix, but for constants in its rows.
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
def without_scores_weights_fade_by_a_ratio(bias: LinearBias, problem: Problem) -> None:
    """Where all scores are equal, weights fall from key to key by the ratio exp(-m_h).

        a_ij = r^(i-j) (1 - r) / (1 - r^(i+1)),    r = exp(-m_h)

    This is a mean over the past that forgets, and it is 1 / (i + 1) where the slope is zero.
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
def rows_behind_a_cache_are_the_last_rows(bias: LinearBias, problem: Problem) -> None:
    """The bias of the last queries is the end of the bias of all.

        b(N, M) = b(M, M)[M - N:]    for keys of the past

    With a cache the matrix is not square, and its first row is not that of position zero.
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
def the_future_can_be_forbidden(bias: LinearBias, problem: Problem) -> None:
    """What lies ahead is finite or minus infinity, so that a mask can be added to it.

        b_ij + (-inf) = -inf    for j > i

    A mask that is added to plus infinity or NaN leaves NaN in the row.
    """
    b = bias.bias(problem)

    ahead = b[:, ~problem.past]
    same_bits(ahead + -np.inf, np.full(ahead.shape, -np.inf))


@clause("R39", over=Biases(symmetric=True), catches={"claims_both_sides_of_one"})
def both_sides_fade_alike(bias: LinearBias, problem: Problem) -> None:
    """Where both sides are declared, a key ahead is charged as one as far behind.

        b_ij - b_ip = -m_h |p - j|

    This is not the published bias, which is causal, but what encoders make of it.
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
def no_matrix_is_remembered_wrongly(bias: LinearBias, problem: Problem) -> None:
    """Another length or head count in between changes nothing, and is itself right.

        b(x), b(z), b(y), b(x)    and the last is the first

    The matrix is the same for every layer and step, so it is kept; under a key that leaves out
    heads or sizes it is somebody else's matrix.
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
