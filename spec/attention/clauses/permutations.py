"""Section P. Keys are a set, queries are a batch.

Nothing in the definition knows the place of a key: a permutation of keys, with
their values and the columns of the mask, leaves the output alone. Every query
is answered by itself: a permutation of queries permutes the output, and another
query, another head or another element of the batch has no influence. So
self-attention without positions cannot tell "how are you" from "you how are".

A key that occurs twice counts twice: with all keys doubled nothing changes but
the log-sum-exp, by log 2.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import blocks, exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits

UNORDERED = Problems(slopes=False, causal=False, least=(1, 1, 1, 2))


@clause(
    "P1",
    over=UNORDERED,
    catches={"favours_recent_keys", "keeps_stale_keys", "drops_the_last_key"},
    proof=exactly.keys_are_a_set,
)
def keys_are_a_set(attention: Implementation, problem: Problem) -> None:
    """Keys may come in any order, if their values and the mask's columns come along.

        o(q, k_p, v_p) = o(q, k, v)    for a permutation p of the keys

    A sum has no order. What ties a key to its place is its column of the mask, which moves with
    it; a bonus for recent keys, a stale cache or a lost tail stays where it was.
    """
    moved = moves.of_keys(problem, moves.permutation(problem, problem.M))

    before, after = attention.forward(problem), attention.forward(moved)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(moved))


@clause(
    "P2",
    over=Problems(slopes=False, causal=False, least=(1, 1, 2, 1)),
    catches={"favours_the_diagonal", "remembers_answers_by_shape"},
    proof=exactly.queries_are_a_batch,
)
def queries_are_a_batch(attention: Implementation, problem: Problem) -> None:
    """A permutation of the queries permutes the output.

        o(q_p)_i = o(q)_p(i)

    Row i of the scores comes from q_i alone, so nothing is left that knows the number i but row
    i of the mask, which moves along.
    """
    order = moves.permutation(problem, problem.N)
    moved = moves.of_queries(problem, order)

    before, after = attention.forward(problem), attention.forward(moved)

    within = rounding.of_output(problem)[:, :, order] + rounding.of_output(moved)
    equal(after, before[:, :, order], within=within)


@clause(
    "P3",
    over=Problems(slopes=False, causal=False, least=(1, 1, 2, 1)),
    catches={"normalises_over_queries", "favours_the_diagonal"},
)
def a_query_is_answered_by_itself(attention: Implementation, problem: Problem) -> None:
    """The output at a query depends on no other query.

        o(q_i alone) = o(q)_i

    P2 alone would accept a softmax along the queries, which follows any permutation of them.
    """
    i = [problem.chance().below(problem.N)]
    alone = moves.of_queries(problem, i)

    many, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, :, i] + rounding.of_output(alone)
    equal(one, many[:, :, i], within=within)


@clause("P4", over=Problems(least=(2, 1, 1, 1)), catches={"normalises_over_the_batch"})
def batch_elements_do_not_meet(attention: Implementation, problem: Problem) -> None:
    """What one element of the batch holds does not change a bit of another's output.

        o(x)_b = o(y)_b    where x_b = y_b

    Both calls have the same shapes and strides, so not even the order of a sum has a reason to
    differ.
    """
    problem = moves.unshared(problem)
    q, k, v = (x.copy() for x in (problem.q, problem.k, problem.v))
    for x in (q, k, v):
        x[1:] = -np.flip(x[1:], axis=-2)
    other = problem.but(q=q, k=k, v=v)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:1], before[:1])


@clause(
    "P5",
    over=Problems(least=(2, 1, 1, 1)),
    catches={"normalises_over_the_batch", "reads_the_first_batch_of_keys"},
)
def a_batch_element_is_answered_by_itself(attention: Implementation, problem: Problem) -> None:
    """The output of one element of the batch is what it would be alone.

        o(x_b alone) = o(x)_b

    P4 looks at the first element, and would accept keys that every element reads from it.
    """
    last = [problem.B - 1]
    alone = moves.of_batch(problem, last)

    many, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[last] + rounding.of_output(alone)
    equal(one, many[last], within=within)


@clause(
    "P6",
    over=UNORDERED,
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_mask"},
    effort=2,
    proof=exactly.gradients_follow_the_order_of_keys,
)
def gradients_follow_their_keys(attention: Implementation, problem: Problem) -> None:
    """A permutation of the keys permutes their gradients, and leaves those of the queries alone.

        dk(k_p)_j = dk(k)_p(j),    dv(v_p)_j = dv(v)_p(j),    dq(k_p) = dq(k)

    This is P1 differentiated. A backward pass that visits the keys in an order of its own has
    to put their gradients back.
    """
    order = moves.permutation(problem, problem.M)
    moved = moves.of_keys(problem, order)

    before, after = attention.backward(problem), attention.backward(moved)

    here, there = rounding.of_gradients(problem), rounding.of_gradients(moved)
    equal(after.q, before.q, within=here.q + there.q)
    equal(after.k, before.k[:, :, order], within=here.k[:, :, order] + there.k)
    equal(after.v, before.v[:, :, order], within=here.v[:, :, order] + there.v)


@clause(
    "P7",
    over=Problems(slopes=False, sinks=False, causal=False),
    catches={"adds_one_to_the_denominator", "forgets_the_denominator", "drops_the_lightest_key"},
    effort=2,
    proof=blocks.duplicating_all_keys_adds_log_two,
)
def keys_said_twice_change_nothing(attention: Implementation, problem: Problem) -> None:
    """If every key occurs twice, all weights are halved, and the output stays.

        o(q, [k, k], [v, v]) = o(q, k, v)

    Numerator and denominator both double. A constant in the denominator does not.
    """
    twice = moves.of_keys(problem, np.tile(np.arange(problem.M), 2))

    once, again = attention.forward(problem), attention.forward(twice)

    equal(again, once, within=rounding.of_output(problem) + rounding.of_output(twice))


@clause(
    "P8",
    over=Problems(slopes=False, sinks=False, masks=PLAIN, causal=False),
    needs={Capability.LSE},
    catches={"measures_the_log_of_the_mean", "measures_lse_in_base_two"},
    proof=blocks.duplicating_all_keys_adds_log_two,
)
def keys_said_twice_add_log_two(attention: Implementation, problem: Problem) -> None:
    """If every key occurs twice, the log-sum-exp grows by the logarithm of two.

        lse(q, [k, k]) = lse(q, k) + log 2

    The sum has every term twice, which the output of P7 cannot show. The logarithm of the mean
    would stay as it is.
    """
    twice = moves.of_keys(problem, np.tile(np.arange(problem.M), 2))

    once, again = attention.lse(problem), attention.lse(twice)

    within = rounding.of_lse(problem) + rounding.of_lse(twice)
    equal(again, once + np.log(2), within=within)


@clause(
    "P9",
    over=Problems(
        slopes=False, masks=PLAIN, causal=False, square=True, equal_widths=True, grouped=False
    ),
    catches={"favours_recent_keys", "remembers_answers_by_shape", "drops_the_last_key"},
)
def word_order_is_invisible(attention: Implementation, problem: Problem) -> None:
    """Self-attention without positions answers "how are you" and "you how are" alike.

        o(x_p) = o(x)_p    and    mean_i o(x_p)_i = mean_i o(x)_i    for q = k = v = x

    This is P1 and P2 at once. The order of words has to come from elsewhere: from a causal mask
    or from positions.
    """
    x = problem.q
    order = moves.permutation(problem, problem.N)
    tokens = problem.but(q=x, k=x, v=x)
    shuffled = moves.of_keys(moves.of_queries(tokens, order), order)

    before, after = attention.forward(tokens), attention.forward(shuffled)

    within = rounding.of_output(tokens)[:, :, order] + rounding.of_output(shuffled)
    equal(after, before[:, :, order], within=within)
    equal(after.mean(axis=2), before.mean(axis=2), within=within.mean(axis=2))
