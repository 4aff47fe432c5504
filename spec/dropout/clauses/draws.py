"""Section D, continued. Dropout masks are random, independent and reproducible.

One seed gives one mask, and another seed gives another mask (D14, D15). The next call draws
a new mask, and an evaluation in between does not change that (D16). The remaining clauses
are statistical: they test how many weights are kept, and that masks are independent of each
other. Their bounds hold for any number of draws and fail in at most one of 2^50
comparisons (`chance`).

Two independent masks agree at a position with probability p^2 + (1 - p)^2; two identical
masks agree everywhere. So we compare disjoint pairs of positions, and count how often both
are kept or both are dropped. This detects a mask that heads, queries, keys or batch
elements share.
"""

import numpy as np

from spec.attention import rounding
from spec.clause import clause
from spec.comparison import at_least, at_most, equal
from spec.dropout import chance
from spec.dropout.domain import CROWDS, Problems
from spec.dropout.notation import Dropout, Problem
from spec.dropout.reading import kept, masks, of_crowd, readable, used_weights
from spec.dropout.rounding import of_any_output
from spec.notation import Array

KEYS, QUERIES, HEADS, BATCH = -1, -2, -3, -4  # axes of a mask


def shared_by_chance(trials: Array, q: float) -> None:
    """Raise Violation unless the share of True is plausible for trials of probability q."""
    low, high = chance.share(trials.size, q)
    share = np.asanyarray(trials.mean())
    at_least(share, low, within=0)
    at_most(share, high, within=0)


def agreeing(p: float) -> float:
    """The probability that two independent masks agree at a position."""
    return p * p + (1 - p) * (1 - p)


def first_of_pairs(places: int, apart: int) -> Array:
    """The first positions of pairs at distance `apart`: each block of that length is paired with
    the next block.

    First positions lie in even blocks and second positions in odd blocks, so pairs are disjoint.
    """
    first = np.arange(places - apart)
    return first[first // apart % 2 == 0]


def independent_along(network: Dropout, problem: Problem, axis: int) -> None:
    """Raise Violation unless masks agree along an axis as often as independent masks do.

    All distances up to half of the axis are tested, because a shared mask may repeat at any
    distance.
    """
    along = np.moveaxis(masks(network, problem), axis, 0)
    for apart in range(1, len(along) // 2 + 1):
        first = first_of_pairs(len(along), apart)
        shared_by_chance(along[first] == along[first + apart], agreeing(problem.p))


@clause("D14", over=Problems(), catches={"draws_from_the_clock"})
def same_seed_gives_the_same_dropout_output(network: Dropout, problem: Problem) -> None:
    """Two calls with the same inputs and the same seed return the same output.

        o_2 = o_1    up to rounding

    Otherwise no run could be reproduced, and no backward pass could generate the mask of its
    forward pass again.
    """
    first, second = network.forward(problem), network.forward(problem)

    equal(second, first, within=2 * of_any_output(problem))


@clause("D15", over=CROWDS, catches={"ignores_the_seed", "never_drops"})
def different_seeds_give_independent_masks(network: Dropout, problem: Problem) -> None:
    """The masks of two different seeds agree only as often as independent masks do.

        share of i, j with m_ij(seed) = m_ij(seed + 1)  is about  p^2 + (1 - p)^2

    Here m_ij says whether a weight is kept, and p is the dropout rate. An implementation that
    ignores the seed, or its last bits, draws the same mask again.
    """
    of_crowd(problem)

    first, second = kept(network, problem), kept(network, problem.but(seed=problem.seed + 1))

    shared_by_chance(first == second, agreeing(problem.p))


@clause(
    "D16",
    over=CROWDS,
    catches={"forgets_the_rate_in_evaluation", "draws_one_mask_for_ever", "starts_the_seed_again"},
)
def dropout_resumes_after_evaluation(network: Dropout, problem: Problem) -> None:
    """In a sequence of training, evaluation and training calls, evaluation drops nothing, and the
    second training call drops weights again, with a new mask.

        o_1, o_2, o_3 in a row:  o_2 = o(evaluation),  and the masks of o_1 and o_3 are independent

    If an implementation sets the rate to zero for evaluation and does not restore it, the rest of
    the training has no dropout (NVIDIA/Megatron-LM#411).
    """
    problem = readable(problem)
    of_crowd(problem)

    first, between, last = network.sequence(problem, (True, False, True))

    evaluated = network.forward(problem.but(training=False))
    equal(between, evaluated, within=2 * rounding.of_output(problem.attention))
    shared_by_chance(last != 0, 1 - problem.p)
    shared_by_chance((first != 0) == (last != 0), agreeing(problem.p))


@clause("D17", over=CROWDS, catches={"never_drops", "keeps_with_the_rate", "draws_four_bits"})
def share_of_kept_weights_matches_the_rate(network: Dropout, problem: Problem) -> None:
    """The share of weights that dropout keeps is 1 - p, up to a bound on random deviations.

        low <= share <= high,    where P(share < low or share > high) <= 2^-50

    Here p is the dropout rate. The bounds low and high follow from p and the number of weights, so
    a correct implementation almost never exceeds them. With 2^15 weights, a rate that is off by
    0.05 is detected with a probability of at least 1 - 2^-50.
    """
    shared_by_chance(masks(network, problem), 1 - problem.p)


@clause("D18", over=CROWDS, catches={"drops_keys_in_blocks", "drops_whole_queries"}, effort=2)
def dropout_is_independent_across_keys(network: Dropout, problem: Problem) -> None:
    """Whether one key of a query is dropped is independent of whether another key is dropped.

        share of pairs j, j' with m_ij = m_ij'  is about  p^2 + (1 - p)^2

    Here m_ij says whether a weight is kept, and p is the dropout rate. The pairs are disjoint, so
    they are independent trials, and the bound of D17 applies.
    """
    independent_along(network, problem, KEYS)


@clause(
    "D19",
    over=CROWDS,
    catches={"drops_whole_keys", "repeats_the_mask_every_four_queries"},
    effort=2,
)
def dropout_is_independent_across_queries(network: Dropout, problem: Problem) -> None:
    """Whether one query drops a key is independent of whether another query drops it.

        share of pairs i, i' with m_ij = m_i'j  is about  p^2 + (1 - p)^2

    Here m_ij says whether a weight is kept, and p is the dropout rate. Dropping a value for all
    queries at once is a different regularisation.
    """
    independent_along(network, problem, QUERIES)


@clause("D20", over=CROWDS, catches={"shares_the_mask_over_heads", "starts_each_head_at_the_seed"})
def dropout_is_independent_across_heads(network: Dropout, problem: Problem) -> None:
    """Whether one head drops a weight is independent of whether another head drops it.

        share of pairs h, h' with m_hij = m_h'ij  is about  p^2 + (1 - p)^2

    Here m_hij says whether head h keeps a weight, and p is the dropout rate. Each head needs its
    own random numbers. If every head restarts the generator at the seed, all heads share one mask.
    """
    independent_along(network, problem, HEADS)


@clause("D21", over=CROWDS, catches={"shares_the_mask_over_the_batch"})
def dropout_is_independent_across_the_batch(network: Dropout, problem: Problem) -> None:
    """Whether one batch element drops a weight is independent of whether another drops it.

        share of pairs b, b' with m_bij = m_b'ij  is about  p^2 + (1 - p)^2

    Here m_bij says whether batch element b keeps a weight, and p is the dropout rate. Broadcasting
    one mask over the batch saves memory, but all batch elements then have the same noise.
    """
    independent_along(network, problem, BATCH)


@clause("D22", over=CROWDS, catches={"drops_small_weights", "drops_large_weights"})
def dropout_ignores_the_size_of_weights(network: Dropout, problem: Problem) -> None:
    """Large weights are kept as often as small weights.

        share of kept weights among the larger half of each row, and among the smaller half,
        is 1 - p, up to chance

    Here p is the dropout rate. The mask does not depend on the scores. Removing small weights is
    pruning, not dropout.
    """
    a = used_weights(network, problem.but(training=False))
    larger = a >= np.median(a, axis=-1, keepdims=True)
    found = masks(network, problem)

    shared_by_chance(found[:, larger], 1 - problem.p)
    if not larger.all():
        shared_by_chance(found[:, ~larger], 1 - problem.p)
