"""Section P. The order of keys does not matter, and queries are independent.

Without causality, windows and ALiBi slopes, the definition does not use the position of
a key. A permutation of the keys, together with their values, segments and columns of the
mask, leaves the output unchanged. Each query is computed independently: a permutation of
the queries permutes the output, and no other query, head or batch element has an
influence. So self-attention without positions cannot distinguish "how are you" from "you
how are".

A key that occurs twice counts twice. With all keys doubled, only the log-sum-exp
changes: it grows by log 2.
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


def with_other_sequences(problem: Problem) -> tuple[Problem, Problem]:
    """The problem, and one of the same shapes and strides with other sequences but the first."""
    problem = moves.unshared(problem)
    q, k, v = (x.copy() for x in (problem.q, problem.k, problem.v))
    for x in (q, k, v):
        x[1:] = -np.flip(x[1:], axis=-2)
    return problem, problem.but(q=q, k=k, v=v)


@clause(
    "P1",
    over=UNORDERED,
    catches={"favours_recent_keys", "keeps_stale_keys", "drops_the_last_key"},
    proof=exactly.keys_are_a_set,
)
def permuting_keys_leaves_output_unchanged(attention: Implementation, problem: Problem) -> None:
    """Permuting the keys, with their values, segments and mask columns, does not change the output.

        o(q, k_p, v_p) = o(q, k, v)    for a permutation p of the keys

    The output is a sum over the keys, which does not depend on their order. The clause catches code
    that favours recent keys or drops the last key, because other keys are then recent or last. It
    also catches code that reuses the keys of an earlier call.
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
def permuting_queries_permutes_the_output(attention: Implementation, problem: Problem) -> None:
    """A permutation of the queries, segments and mask rows permutes the output in the same way.

        o(q_p)_i = o(q)_p(i)    for a permutation p of the queries

    Row i of the scores depends on no query except q_i. The mask row and the segment of query i move
    with it, and nothing else depends on the index i.
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
def each_query_is_independent_of_the_others(attention: Implementation, problem: Problem) -> None:
    """The output of a query depends on no other query.

        o(q_i alone) = o(q)_i

    P2 (permuted queries) would accept a softmax along the queries, which commutes with any
    permutation of them.
    """
    i = [problem.chance().below(problem.N)]
    alone = moves.of_queries(problem, i)

    many, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, :, i] + rounding.of_output(alone)
    equal(one, many[:, :, i], within=within)


@clause(
    "P4", over=Problems(least=(2, 1, 1, 1)), catches={"normalises_over_the_batch"}, promise="batch"
)
def batch_elements_do_not_affect_each_other(attention: Implementation, problem: Problem) -> None:
    """The contents of one batch element change no bit of the output of another.

        o(x)_b = o(y)_b    for inputs x and y with x_b = y_b

    Both calls have the same shapes and strides, so a deterministic program sums in the same order
    in both, and even the last bits agree.
    """
    problem, other = with_other_sequences(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:1], before[:1])


@clause(
    "P5",
    over=Problems(least=(2, 1, 1, 1)),
    catches={"normalises_over_the_batch", "reads_the_first_batch_of_keys"},
)
def batch_element_alone_gives_the_same_output(attention: Implementation, problem: Problem) -> None:
    """The output of a batch element is the same in the batch and in a call with this element alone.

        o(x_b alone) = o(x)_b    for the inputs x of a batch

    P4 checks only the first batch element. It would accept code in which every element reads the
    keys of the first one.
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
def permuting_keys_permutes_their_gradients(attention: Implementation, problem: Problem) -> None:
    """Permuting keys and values together permutes their gradients, and leaves dq unchanged.

        dk(k_p, v_p) = dk(k, v)_p,    dv(k_p, v_p) = dv(k, v)_p,    dq(k_p, v_p) = dq(k, v)

    This is P1 (permuted keys) differentiated; segments and mask columns move too. A backward pass
    that visits the keys in another order has to put their gradients back in place.
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
def duplicating_all_keys_leaves_output_unchanged(
    attention: Implementation, problem: Problem
) -> None:
    """If every key occurs twice, all weights are halved, and the output does not change.

        o(q, [k, k], [v, v]) = o(q, k, v)    mask columns, positions and segments twice as well

    Numerator and denominator both double. The clause catches a constant in the denominator, which
    does not double.
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
def duplicating_all_keys_adds_log_two_to_lse(attention: Implementation, problem: Problem) -> None:
    """If every key occurs twice, the log-sum-exp grows by the logarithm of two.

        lse(q, [k, k]) = lse(q, k) + log 2

    The sum has every term twice. The output cannot show this (P7), because the factor cancels. The
    logarithm of the mean would not change.
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
def self_attention_is_permutation_equivariant(attention: Implementation, problem: Problem) -> None:
    """Permuting the tokens of self-attention without positions only permutes the output.

        o(x_p) = o(x)_p    and    mean_i o(x_p)_i = mean_i o(x)_i    for q = k = v = x

    This is P1 (keys) and P2 (queries) together: the words of "how are you" and "you how are" get
    the same outputs. Their order has to come from elsewhere, from a causal mask or from positions.
    """
    x = problem.q
    order = moves.permutation(problem, problem.N)
    tokens = problem.but(q=x, k=x, v=x)
    shuffled = moves.of_keys(moves.of_queries(tokens, order), order)

    before, after = attention.forward(tokens), attention.forward(shuffled)

    within = rounding.of_output(tokens)[:, :, order] + rounding.of_output(shuffled)
    equal(after, before[:, :, order], within=within)
    equal(after.mean(axis=2), before.mean(axis=2), within=within.mean(axis=2))
