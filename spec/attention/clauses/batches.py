"""Section P. A sequence has the same output in every batch, at every position of it.

Serving puts a sequence into a batch with whatever others there are, so its output should not
depend on them. Rounding may: kernels split the keys of a sequence into more parts if the batch is
small, and each number of parts has another order of summation. Whether bits are the same in every
batch is a promise of the implementation (`spec.promises`).
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.permutations import with_other_sequences
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits

UNEVEN = ("normal",)  # entries whose sums are rounded, in any order
SIZES = ((2, 7), (2, 64))  # of batches, one pair for each problem


def in_batches(problem: Problem) -> list[tuple[int, Problem]]:
    """The first sequence at some position of batches of others, and the positions."""
    alone, chance = moves.unshared(moves.of_batch(problem, [0])), problem.chance()
    found = []
    for size in chance.choice(SIZES):
        place, many = chance.below(size), moves.of_batch(alone, [0] * size)
        others = np.arange(size) != place
        q, k, v = (x.copy() for x in (many.q, many.k, many.v))
        for x in (q, k, v):
            x[others] = -np.flip(x[others], axis=-2)
        found.append((place, many.but(q=q, k=k, v=v)))
    return found


@clause("P10", over=Problems(least=(2, 1, 1, 1)), catches={"normalises_over_the_batch"})
def other_batch_elements_leave_no_trace(attention: Implementation, problem: Problem) -> None:
    """The contents of other batch elements leave no trace in an output, up to rounding.

        o(x)_b = o(y)_b    for inputs x and y with x_b = y_b

    P4 requires equal bits, which need the same order of summation in both calls.
    """
    problem, other = with_other_sequences(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem)[:1] + rounding.of_output(other)[:1]
    equal(after[:1], before[:1], within=within)


@clause(
    "P11",
    over=Problems(tiled="keys", masks=PLAIN, families=UNEVEN),
    needs={Capability.BATCHES},
    catches={"splits_keys_by_batch_size"},
    effort=2,
    promise="batch",
)
def sequence_has_same_bits_in_every_batch(attention: Implementation, problem: Problem) -> None:
    """A sequence has the same output, bit for bit, alone and at any position of any batch.

        o(x in a batch)_b = o(x alone)    for batches of 2, 7 and 64, and any b

    A program that splits the keys of a sequence by the size of the batch adds in another order.
    P5 allows rounding errors.
    """
    alone = attention.forward(moves.unshared(moves.of_batch(problem, [0])))

    for place, batch in in_batches(problem):
        same_bits(attention.forward(batch)[place : place + 1], alone)


@clause(
    "P13",
    over=Problems(tiled="keys", masks=PLAIN, families=UNEVEN),
    needs={Capability.BATCHES, Capability.GRADIENTS},
    catches={"splits_gradients_by_batch_size"},
    effort=2,
    promise="batch",
)
def sequence_has_same_gradients_in_every_batch(attention: Implementation, problem: Problem) -> None:
    """A sequence has the same gradients of q, k and v, bit for bit, alone and in any batch.

        dq(x in a batch)_b = dq(x alone)    and likewise dk, dv

    This is P11 for the backward pass, which often splits the keys in another way. A2 to A4 allow
    rounding errors.
    """
    alone = attention.backward(moves.unshared(moves.of_batch(problem, [0])))

    for place, batch in in_batches(problem):
        found = attention.backward(batch)
        for x, y in ((found.q, alone.q), (found.k, alone.k), (found.v, alone.v)):
            same_bits(x[place : place + 1], y)


@clause(
    "P12",
    over=Problems(
        causal=False, windows=False, slopes=False, masks=PLAIN, families=UNEVEN, least=(1, 1, 2, 9)
    ),
    catches={"has_another_program_for_a_single_query"},
    effort=2,
    promise="chunk",
)
def query_alone_has_same_bits(attention: Implementation, problem: Problem) -> None:
    """A query has the same output, bit for bit, alone and together with others.

        o(q_i alone) = o(q)_i

    Many programs have a path of their own for a single query. P3 allows rounding errors.
    """
    i = [problem.chance().below(problem.N)]

    many, one = attention.forward(problem), attention.forward(moves.of_queries(problem, i))

    same_bits(one, many[:, :, i])
