"""Section Z. An attention sink takes part of the weights and has no value.

An attention sink is a learned logit t_h of head h that joins the scores of the keys in the softmax:

    lse_i = log (exp(t_h) + sum_j exp(s_ij)),    a_ij = exp(s_ij - lse_i),    o_i = sum_j a_ij v_j

(the model card of gpt-oss, OpenAI 2025; for t_h = 0, a "softmax off by one"). So a query need not
attend to any key: the weights of its keys sum to 1 - exp(t_h - lse_i). A sink is neither scaled nor
soft-capped nor masked. It counts once for each query, no matter how the keys are split.

Outputs without the sinks look plausible, but are wrong for a model that was trained with them.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import EVERY, IDLE, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import CAP, SINKS, Capability, together
from spec.attention.proofs import any_sink
from spec.attention.record import Implementation
from spec.attention.rounding.reference import of_reader
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.notation import Array

SUNK = Problems(sinks=True)
NEAR = 2.0  # of the same order as the scores of small inputs


def shares(problem: Problem) -> tuple[Array, Array]:
    """exp(t_h - lse_i), the sink's share of each query, and its error bound.   (B, H, N, 1) each"""
    lse = np.where(problem.idle, 0.0, rounding.reference(problem).lse)
    assert problem.sinks is not None
    share = np.exp(problem.sinks[:, None] - lse)[..., None]
    t = np.where(np.isneginf(problem.sinks), 0.0, np.abs(problem.sinks))[:, None]
    return share, share * of_reader(2 + np.abs(lse) + t, problem)[..., None]


def near(problem: Problem) -> Problem:
    """The problem with a sink close to the scores in every head; neighbouring heads differ."""
    return problem.but(sinks=NEAR - np.arange(problem.H) % 3)


def with_other_sinks(problem: Problem) -> tuple[int, Problem, Problem]:
    """A head, the problem with a sink in every head, and with others in all heads but this one."""
    mine, usual = problem.chance().below(problem.H), near(problem)
    assert usual.sinks is not None
    sinks = np.where(np.arange(problem.H) == mine, usual.sinks, usual.sinks + 1)
    return mine, usual, usual.but(sinks=sinks)


@clause(
    "Z1",
    over=Problems(sinks=True, masks=EVERY),
    catches={"adds_one_for_every_sink", "has_no_word_for_no_sink"},
)
def sink_of_minus_infinity_equals_no_sink(attention: Implementation, problem: Problem) -> None:
    """A sink of -inf takes no weight and gives the same output as no sink.

        o(t = -inf) = o(no sinks)

    exp(-inf) is zero. But for a fully masked query, code may compute exp(-inf - (-inf)), which is
    NaN.
    """
    empty, plain = problem.but(sinks=np.full(problem.H, -np.inf)), problem.but(sinks=None)

    o, p = attention.forward(empty), attention.forward(plain)

    equal(o, p, within=rounding.of_output(empty) + rounding.of_output(plain))


@clause(
    "Z2",
    over=Problems(slopes=False, sinks=True, caps=False),
    needs={Capability.FUTURE, Capability.BIAS},
    catches={
        "ignores_the_sinks",
        "adds_one_for_every_sink",
        "takes_the_first_value_for_that_of_the_sink",
        "adds_the_sink_to_the_first_key",
        "adds_the_sink_itself",
        "takes_the_exponential_of_a_sink_alone",
        "takes_the_sink_in_bits",
    },
    effort=2,
    proof=any_sink.a_sink_is_a_key,
)
def sink_equals_extra_key_with_zero_value(attention: Implementation, problem: Problem) -> None:
    """A sink acts like one more key with value zero, whose score is t_h for every query of head h.

        o(k, v; t) = o(k and one more key; v and 0)    where the score of that key is t_h

    The additional key adds exp(t_h) to the denominator, and nothing to the weighted sum of values.
    """
    sunk = near(problem)
    extended = moves.with_the_sink_as_a_key(sunk)

    o, p = attention.forward(sunk), attention.forward(extended)

    equal(o, p, within=rounding.of_output(sunk) + rounding.of_output(extended))


@clause(
    "Z3",
    over=SUNK,
    catches={
        "ignores_the_sinks",
        "clips_sinks_at_zero",
        "forgets_sinks_beside_a_mask",
        "forgets_sinks_beside_causality",
        "forgets_sinks_beside_a_window",
        "forgets_sinks_beside_a_cap",
        "shares_the_first_sink_among_heads",
        "reads_sinks_in_reverse",
        "reads_sinks_as_if_heads_were_groups",
        "squares_the_share_of_the_sink",
    },
    effort=2,
    proof=any_sink.rows_sum_to_what_the_sink_leaves,
)
def weights_and_sink_share_sum_to_one(attention: Implementation, problem: Problem) -> None:
    """The weights of the keys of a query sum to one minus the share of the sink.

        sum_j a_ij + exp(t_h - lse_i) = 1    unless i is fully masked and t_h = -inf

    This is S1 with a sink: t_h is its logit, and exp(t_h - lse_i) its share, where lse_i includes
    the sink. The check sets all values to one, so that the output is the sum of the weights.
    """
    ones = problem.but(v=np.ones_like(problem.v))
    share, off = shares(problem)

    total = attention.forward(ones)

    one = ~problem.idle[..., None] + np.zeros(total.shape)
    equal(total + share, one, within=rounding.of_output(ones) + off)


@clause(
    "Z4",
    over=SUNK,
    catches={"clips_sinks_at_ten", "forgets_sinks_where_they_are_largest", "ignores_the_sinks"},
)
def very_large_sink_gives_zero_output(attention: Implementation, problem: Problem) -> None:
    """A sink far above all scores gives an output of zero, not NaN.

        o_i = 0    where t_h >= max_j |s_ij| + 1000, because exp(-1000) is zero in every format

    If the subtracted maximum leaves out the sink, the exponential of the sink overflows. Code that
    computes a weight of the sink then divides inf by inf.
    """
    most = np.abs(definition.entering(problem) + problem.bias).max(initial=0.0)
    high = problem.but(sinks=np.full(problem.H, float(2.0 ** np.ceil(np.log2(most + 1000.0)))))

    o = attention.forward(high)

    equal(o, np.zeros(o.shape), within=rounding.of_output(high))


@clause(
    "Z5",
    over=Problems(sinks=True, least=(1, 2, 1, 1)),
    needs={Capability.SEVERAL},
    catches={
        "shares_the_first_sink_among_heads",
        "reads_sinks_in_reverse",
        "reads_sinks_of_the_batch",
        "reads_sinks_as_if_heads_were_groups",
    },
    promise="order",
)
def each_head_has_its_own_sink(attention: Implementation, problem: Problem) -> None:
    """Changing the sink of one head changes no bit of the output of any other head.

        o_h(t) = o_h(t')    to the bit, where t and t' differ only for other heads

    Every query head has its own sink, even if several query heads share one key head. The clause
    catches code that uses one sink for all heads, or that takes a sink by batch element.
    """
    mine, other, moved = with_other_sinks(problem)

    o, p = attention.forward(other), attention.forward(moved)

    same_bits(p[:, mine], o[:, mine])


@clause(
    "Z6",
    over=Problems(slopes=False, sinks=True, causal=False, least=(1, 1, 2, 1)),
    catches={"has_no_sinks_for_a_single_query", "has_sinks_for_a_single_query_alone"},
)
def single_query_has_the_same_sink(attention: Implementation, problem: Problem) -> None:
    """A call with a single query applies the same sink as a call with all queries.

        o(q_i)_0 = o(q)_i

    Decoding often has a separate kernel for a single query. One of the two kernels may ignore the
    sink.
    """
    whole = near(problem)
    i = problem.chance().below(problem.N)
    one = moves.of_queries(whole, [i])

    o, p = attention.forward(whole), attention.forward(one)

    within = rounding.of_output(whole)[:, :, [i]] + rounding.of_output(one)
    equal(p, o[:, :, [i]], within=within)


@clause(
    "Z7",
    over=Problems(sinks=True, masks=IDLE),
    catches={"gives_the_mean_where_only_a_sink_is_seen", "gives_nan_where_only_a_sink_is_seen"},
)
def fully_masked_query_with_sink_returns_zero(attention: Implementation, problem: Problem) -> None:
    """A fully masked query with a finite sink returns zero.

        o_i = 0    where i may attend to no key

    The sink is the only term in the denominator of its softmax, so the output is well defined. The
    conventions for fully masked queries apply only without a sink.
    """
    sunk = near(problem)
    alone = np.logical_not(sunk.allowed.any(axis=-1))[..., None]

    o = attention.forward(sunk)

    equal(np.where(alone, o, 0), np.zeros(o.shape), within=0)


@clause(
    "Z10",
    over=Problems(sinks=True, caps=True, masks=PLAIN),
    needs={together(CAP, SINKS)},
    catches={"caps_the_sink"},
)
def softcap_does_not_apply_to_sink(attention: Implementation, problem: Problem) -> None:
    """A soft-cap bounds the scores but not the sink, which may be larger than the soft-cap.

        sum_j a_ij + exp(t_h - lse_i) = 1    also where the sink t_h exceeds the soft-cap c

    This is Z3 with a soft-cap; lse_i includes the sink. If a sink above c is soft-capped as well,
    its share is too small.
    """
    sunk = near(problem).but(softcap=0.5, v=np.ones_like(problem.v))

    total = attention.forward(sunk)

    share, off = shares(sunk)
    equal(total + share, np.ones(total.shape), within=rounding.of_output(sunk) + off)
