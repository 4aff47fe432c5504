"""Section D, continued. Which weights are dropped is chance, and chance alone.

One seed is one mask, and another seed another (D14, D15); the next call draws anew, and
evaluation in between changes nothing about it (D16). How many weights are kept, and that
one mask says nothing about another, are claims about chance: they are held to bounds that
hold for any number of draws and fail once in 2^50 comparisons (`chance`).

Two masks agree at a place with probability p^2 + (1 - p)^2 if they are independent, and
always if they are one. So a mask that heads, queries, keys or batch elements share is seen
in the share of places, over disjoint pairs of places, where both are kept or both are dropped.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import at_least, at_most, same_bits
from spec.dropout import chance
from spec.dropout.domain import CROWDS, Problems
from spec.dropout.notation import Dropout, Problem
from spec.dropout.reading import kept, masks, of_crowd, readable, used_weights
from spec.notation import Array

KEYS, QUERIES, HEADS, BATCH = -1, -2, -3, -4  # axes of a mask


def shared_by_chance(trials: Array, q: float) -> None:
    """Raise Violation unless the share of True is one that trials of probability q may have."""
    low, high = chance.share(trials.size, q)
    share = np.asanyarray(trials.mean())
    at_least(share, low, within=0)
    at_most(share, high, within=0)


def agreeing(p: float) -> float:
    """The probability that two independent masks agree at a place."""
    return p * p + (1 - p) * (1 - p)


def first_of_pairs(places: int, apart: int) -> Array:
    """The first places of pairs `apart`: blocks of that length go with the blocks after them.

    So first places are in even blocks and second ones in odd blocks, and no place is in two.
    """
    first = np.arange(places - apart)
    return first[first // apart % 2 == 0]


def independent_along(network: Dropout, problem: Problem, axis: int) -> None:
    """Raise Violation unless masks agree along an axis as often as independent ones do.

    However far apart they are, up to half of the axis: what is shared may repeat at any distance.
    """
    along = np.moveaxis(masks(network, problem), axis, 0)
    for apart in range(1, len(along) // 2 + 1):
        first = first_of_pairs(len(along), apart)
        shared_by_chance(along[first] == along[first + apart], agreeing(problem.p))


@clause("D14", over=Problems(), catches={"draws_from_the_clock"})
def one_seed_has_one_answer(network: Dropout, problem: Problem) -> None:
    """From the same seed, the output is the same to the bit.

        o(seed) = o(seed)

    Without this no run can be repeated, and no backward pass can make its mask again.
    """
    first, second = network.forward(problem), network.forward(problem)

    same_bits(second, first)


@clause("D15", over=CROWDS, catches={"ignores_the_seed", "never_drops"})
def another_seed_has_another_answer(network: Dropout, problem: Problem) -> None:
    """The masks of two seeds agree as often as independent masks do.

        share of i, j with m_ij(seed) = m_ij(seed + 1)  is about  p^2 + (1 - p)^2

    A seed that is ignored, or of which only some bits are read, gives the same mask again.
    """
    of_crowd(problem)

    first, second = kept(network, problem), kept(network, problem.but(seed=problem.seed + 1))

    shared_by_chance(first == second, agreeing(problem.p))


@clause(
    "D16",
    over=CROWDS,
    catches={"forgets_the_rate_in_evaluation", "draws_one_mask_for_ever", "starts_the_seed_again"},
)
def training_goes_on_after_evaluation(network: Dropout, problem: Problem) -> None:
    """Training, evaluation, training: evaluation drops nothing, and training drops again, anew.

        o_1, o_2, o_3 in a row:  o_2 = o(evaluation),  and the masks of o_1 and o_3 are independent

    A mode that is kept in the rate itself is lost for good by the first evaluation
    (NVIDIA/Megatron-LM#411).
    """
    problem = readable(problem)
    of_crowd(problem)

    first, between, last = network.sequence(problem, (True, False, True))

    same_bits(between, network.forward(problem.but(training=False)))
    shared_by_chance(last != 0, 1 - problem.p)
    shared_by_chance((first != 0) == (last != 0), agreeing(problem.p))


@clause("D17", over=CROWDS, catches={"never_drops", "keeps_with_the_rate", "draws_four_bits"})
def the_kept_share_is_binomial(network: Dropout, problem: Problem) -> None:
    """The share of weights that are kept is 1 - p, as near as chance comes.

        P(share is further away) < 2^-50

    At 2^15 weights a rate that is off by 0.05 is sure to be seen.
    """
    shared_by_chance(masks(network, problem), 1 - problem.p)


@clause("D18", over=CROWDS, catches={"drops_keys_in_blocks", "drops_whole_queries"}, effort=2)
def keys_are_dropped_independently(network: Dropout, problem: Problem) -> None:
    """Whether one key is dropped says nothing about the next.

        share of pairs j, j' with m_ij = m_ij'  is about  p^2 + (1 - p)^2

    Pairs are disjoint, so they are independent trials, and the bound for shares holds.
    """
    independent_along(network, problem, KEYS)


@clause(
    "D19",
    over=CROWDS,
    catches={"drops_whole_keys", "repeats_the_mask_every_four_queries"},
    effort=2,
)
def queries_drop_independently(network: Dropout, problem: Problem) -> None:
    """Whether one query drops a key says nothing about the next query.

        share of pairs i, i' with m_ij = m_i'j  is about  p^2 + (1 - p)^2

    To drop a value for all queries alike is another regularisation.
    """
    independent_along(network, problem, QUERIES)


@clause("D20", over=CROWDS, catches={"shares_the_mask_over_heads", "starts_each_head_at_the_seed"})
def heads_drop_independently(network: Dropout, problem: Problem) -> None:
    """Whether one head drops a weight says nothing about the next head.

        share of pairs h, h' with m_hij = m_h'ij  is about  p^2 + (1 - p)^2

    Each head draws for itself; a generator that each of them starts at the seed does not.
    """
    independent_along(network, problem, HEADS)


@clause("D21", over=CROWDS, catches={"shares_the_mask_over_the_batch"})
def batch_elements_drop_independently(network: Dropout, problem: Problem) -> None:
    """Whether one batch element drops a weight says nothing about the next.

        share of pairs b, b' with m_bij = m_b'ij  is about  p^2 + (1 - p)^2

    A mask that is broadcast over the batch saves memory, and half of the noise.
    """
    independent_along(network, problem, BATCH)


@clause("D22", over=CROWDS, catches={"drops_small_weights", "drops_large_weights"})
def the_size_of_a_weight_does_not_matter(network: Dropout, problem: Problem) -> None:
    """Large weights are kept as often as small ones.

        share of kept weights among the larger half of each row, and among the smaller,
        is 1 - p, as near as chance comes

    Chance knows nothing of the scores. To prune small weights is no dropout.
    """
    a = used_weights(network, problem.but(training=False))
    larger = a >= np.median(a, axis=-1, keepdims=True)
    found = masks(network, problem)

    shared_by_chance(found[:, larger], 1 - problem.p)
    if not larger.all():
        shared_by_chance(found[:, ~larger], 1 - problem.p)
