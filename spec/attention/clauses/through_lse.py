"""Section S, continued. What a softmax divides by is differentiated too.

Who merges parts, or adds |lse|^2 to a loss, sends a cotangent dlse back through the log-sum-exp
beside the one of the output. With L = <dout, o> + <dlse, lse>,

    d lse_i / d s_ij = a_ij        ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i)

so dlse joins the row term, with the other sign, and no value has any part in it. It is the backward
pass of a merge (section Q, and X3): split keys, prefix caches and rings send it to every part.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.clauses.sinks import near
from spec.attention.domain import EVERY, IDLE, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import through_lse
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits

NEEDS = {Capability.GRADIENTS, Capability.LSE_GRADIENT}


def of_lse_alone(problem: Problem) -> Problem:
    """The problem in which the loss is <dlse, lse>."""
    return problem.but(dout=np.zeros_like(problem.dout))


@clause(
    "S16",
    over=Problems(cotangents=True, masks=EVERY, few=True),
    needs=NEEDS,
    catches={
        "learns_nothing_through_lse",
        "adds_the_cotangent_of_lse_to_the_row_term",
        "learns_lse_in_base_two",
        "averages_the_cotangent_of_lse_over_keys",
        "teaches_values_through_lse",
        "gives_all_heads_the_cotangent_of_the_first",
        "sends_the_cotangent_of_lse_past_the_cap",
        "learns_from_one_cotangent_at_a_time",
    },
    effort=3,
    proof=through_lse.gradients_are_the_derivatives,
)
def gradients_through_the_log_sum_exp_are_those_of_the_definition(
    attention: Implementation, problem: Problem
) -> None:
    """The gradients of <dout, o> + <dlse, lse> are the closed form.

        dq_i = scale sum_j ds_ij k_j    dk_j = scale sum_i ds_ij q_i    dv_j = sum_i a_ij dout_i

    Where ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i): a kernel that has the row term takes
    dlse away from it, before anything else is done.
    """
    found = attention.lse_backward(problem)

    want, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal(found.q, want.q, within=budget.q)
    equal(found.k, want.k, within=budget.k)
    equal(found.v, want.v, within=budget.v)


@clause(
    "S17",
    over=Problems(cotangents=True, caps=False, equal_widths=True),
    needs=NEEDS,
    catches={
        "learns_nothing_through_lse",
        "adds_the_cotangent_of_lse_to_the_row_term",
        "learns_lse_in_base_two",
        "averages_the_cotangent_of_lse_over_keys",
    },
    proof=through_lse.the_gradient_of_log_sum_exp_is_a_mean_of_keys,
)
def the_log_sum_exp_teaches_a_query_the_mean_key(
    attention: Implementation, problem: Problem
) -> None:
    """What the log-sum-exp alone sends to a query is what the query would get, were keys values.

        dq_i = scale dlse_i o_i(q, k, v = k)    if dout = 0

    lse_i moves with every score of its row by that key's weight, and a score moves with q_i by its
    key. So the forward pass says what the backward pass has to be.
    """
    alone = of_lse_alone(problem)
    read = problem.but(v=problem.k, dout=np.zeros(problem.q.shape))

    dq, mean = attention.lse_backward(alone).q, attention.forward(read)

    assert problem.dlse is not None
    factor = definition.scale(problem) * problem.dlse[..., None]
    within = rounding.of_gradients(alone).q + np.abs(factor) * rounding.of_output(read)
    equal(dq, factor * mean, within=within)


@clause(
    "S18",
    over=Problems(cotangents=True, caps=False, sinks=False),
    needs=NEEDS,
    catches={
        "learns_nothing_through_lse",
        "adds_the_cotangent_of_lse_to_the_row_term",
        "learns_lse_in_base_two",
    },
    proof=through_lse.key_gradients_sum_to_the_cotangents,
)
def key_gradients_sum_to_what_the_log_sum_exp_was_sent(
    attention: Implementation, problem: Problem
) -> None:
    """The gradients of the keys sum to the queries, as often as dlse says, whatever dout is.

        sum_j dk_j = scale sum_i dlse_i q_i    over the queries that see a key

    One vector added to every key moves no output (K2), and each log-sum-exp by its score (K3).
    """
    dk = attention.lse_backward(problem).k

    assert problem.dlse is not None
    live = np.where(problem.idle, 0.0, problem.dlse)[..., None]
    want = (definition.scale(problem) * live * problem.q).sum(axis=-2)
    want = definition.gathered(want, problem.G)
    equal(dk.sum(axis=-2), want, within=rounding.of_gradients(problem).k.sum(axis=-2))


@clause(
    "S19",
    over=Problems(cotangents=True, masks=EVERY),
    needs=NEEDS,
    catches={"teaches_values_through_lse"},
)
def values_have_no_part_in_the_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp alone teaches the values nothing.

        dv = 0    if dout = 0

    Scores do not know the values. A kernel that folds dlse into dout sends it to them as well.
    """
    dv = attention.lse_backward(of_lse_alone(problem)).v

    equal(dv, np.zeros(problem.v.shape), within=0)


@clause(
    "S20",
    over=Problems(cotangents=True, masks=EVERY),
    needs=NEEDS,
    catches={"learns_from_one_cotangent_at_a_time"},
    proof=through_lse.what_both_teach_adds_up,
)
def what_both_teach_adds_up(attention: Implementation, problem: Problem) -> None:
    """What one cotangent teaches is added to what the other does.

        d(dout, dlse) = d(dout) + d(0, dlse)

    A loss is differentiated term by term. Who has a path for each of the two, as a merge has that
    knows the output alone, has to have the same gradients on both.
    """
    alone, none = of_lse_alone(problem), problem.but(dlse=None)

    both, lse, out = (
        attention.lse_backward(problem),
        attention.lse_backward(alone),
        attention.backward(none),
    )

    of = [rounding.of_gradients(x) for x in (problem, alone, none)]
    equal(both.q, lse.q + out.q, within=sum(x.q for x in of))
    equal(both.k, lse.k + out.k, within=sum(x.k for x in of))
    equal(both.v, lse.v + out.v, within=sum(x.v for x in of))


@clause(
    "S21",
    over=Problems(cotangents=True, masks=IDLE, sinks=False),
    needs=NEEDS,
    catches={"has_no_number_for_what_nothing_teaches"},
)
def who_sees_nothing_teaches_nothing_through_the_log_sum_exp(
    attention: Implementation, problem: Problem
) -> None:
    """Whatever cotangent the log-sum-exp of an idle query has, no gradient knows of it.

    dq_i = 0, and d(dlse) = d(dlse') to the bit, where dlse and dlse' differ for idle queries alone

    lse_i is -inf whatever q and k are. exp(s - lse), by which kernels find the weights again, is
    exp(-inf + inf) there.
    """
    assert problem.dlse is not None
    other = problem.but(dlse=np.where(problem.idle, 1.0 - problem.dlse, problem.dlse))

    found, again = attention.lse_backward(problem), attention.lse_backward(other)

    equal(np.where(problem.idle[..., None], found.q, 0), np.zeros(problem.q.shape), within=0)
    same_bits(again.q, found.q)
    same_bits(again.k, found.k)
    same_bits(again.v, found.v)


@clause(
    "S22",
    over=Problems(cotangents=True, sinks=True),
    needs={Capability.SINK_GRADIENT, *NEEDS},
    catches={"forgets_the_log_sum_exp_in_sink_gradients"},
    proof=through_lse.a_sink_learns_through_the_log_sum_exp,
)
def a_sink_learns_through_the_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """A sink is in the log-sum-exp, and so in what comes back through it.

        dt_h = sum_i exp(t_h - lse_i) (dlse_i - <dout_i, o_i>)

    The output of a query with a large sink hardly moves; its log-sum-exp is that sink.
    """
    sunk = near(problem)

    dt = attention.sink_gradient(sunk)

    want = rounding.reference(sunk).gradients.sinks
    assert want is not None
    equal(dt, want, within=rounding.of_sinks(sunk))
