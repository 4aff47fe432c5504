"""Section S, continued. Gradients also flow back through the log-sum-exp.

A loss may depend on the log-sum-exp (LSE): a merge of partial results does, and so does a
penalty |lse|^2. Its backward pass then sends a cotangent dlse through the log-sum-exp, together
with the cotangent dout of the output. With L = <dout, o> + <dlse, lse>,

    d lse_i / d s_ij = a_ij        ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i)

so dlse joins the row term, with the opposite sign, and the values do not appear. The backward
pass of a merge needs this gradient (section Q, and X3): split keys, prefix caches and ring
attention send dlse to every part.
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
from spec.comparison import equal, equal_in, same_bits

NEEDS = {Capability.GRADIENTS, Capability.LSE_GRADIENT}


def of_lse_alone(problem: Problem) -> Problem:
    """The problem with dout = 0, so that the loss is <dlse, lse>."""
    return problem.but(dout=np.zeros_like(problem.dout))


def with_other_idle_cotangents(problem: Problem) -> Problem:
    """The problem with other cotangents of the log-sum-exp of fully masked queries."""
    assert problem.dlse is not None
    return problem.but(dlse=np.where(problem.idle, 1.0 - problem.dlse, problem.dlse))


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
def gradients_through_lse_match_the_definition(attention: Implementation, problem: Problem) -> None:
    """The gradients of the loss <dout, o> + <dlse, lse> equal the closed form.

        dq_i = scale sum_j ds_ij k_j,    dk_j = scale sum_i ds_ij q_i,    dv_j = sum_i a_ij dout_i

    Without a soft-cap, ds_ij = a_ij (da_ij - r_i + dlse_i). Here da_ij = <dout_i, v_j> is the
    gradient of a weight, and r_i = sum_j a_ij da_ij the row term of the softmax. A kernel that has
    already computed r_i subtracts dlse_i from it first, and needs no other change.
    """
    found = attention.lse_backward(problem)

    want, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal_in("qkv", found, want, within=budget)


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
def query_gradient_through_lse_is_weighted_sum_of_keys(
    attention: Implementation, problem: Problem
) -> None:
    """With dout = 0, the gradient of query i is scale * dlse_i times the output of this query when
    the keys are passed as the values.

        dq_i = scale dlse_i o_i(q, k, v = k)    if dout = 0

    lse_i changes with the score s_ij at the rate a_ij, and s_ij changes with q_i at the rate
    scale k_j. So the forward pass determines this gradient.
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
def key_gradients_sum_to_queries_weighted_by_dlse(
    attention: Implementation, problem: Problem
) -> None:
    """For any dout, the key gradients sum to the queries weighted by scale * dlse_i.

        sum_j dk_j = scale sum_i dlse_i q_i    over the not fully masked queries of a key head

    Adding one vector c to every key changes no output (K1), and changes lse_i by scale <q_i, c>
    (K3).
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
def values_receive_no_gradient_through_lse(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp has zero gradient with respect to the values.

        dv = 0    if dout = 0

    Scores do not depend on the values. A kernel that folds dlse into dout gives the values a
    gradient.
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
def output_and_lse_gradients_add_up(attention: Implementation, problem: Problem) -> None:
    """The gradients for both cotangents together are the sum of the gradients for each alone.

        d(dout, dlse) = d(dout) + d(0, dlse)

    Here d stands for dq, dk and dv. A loss is differentiated term by term. An implementation may
    have a separate code path for losses on the output only, and all paths must agree. The known bug
    ignores dlse where dout is not zero.
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
    promise="run",
)
def fully_masked_query_gives_no_gradient_through_lse(
    attention: Implementation, problem: Problem
) -> None:
    """A fully masked query contributes no gradient through its log-sum-exp, for any finite dlse.

        dq_i = 0    for every fully masked query i
        d(dlse) = d(dlse') to the bit    where dlse and dlse' differ only at fully masked queries

    Here d stands for dq, dk and dv. For such a query, lse_i is -inf whatever q and k are. Kernels
    recompute the weights as exp(s - lse), which is exp(-inf + inf) here, so NaN.
    """
    other = with_other_idle_cotangents(problem)

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
def sink_gradient_includes_the_lse_term(attention: Implementation, problem: Problem) -> None:
    """The gradient of an attention sink includes the part that comes through the log-sum-exp.

        dt_h = sum_bi exp(t_h - lse_i) (dlse_i - <dout_i, o_i>)    over all queries of the batch

    If a sink is large, the output of a query hardly depends on it, but the log-sum-exp is almost
    the sink itself.
    """
    sunk = near(problem)

    dt = attention.sink_gradient(sunk)

    want = rounding.reference(sunk).gradients.sinks
    assert want is not None
    equal(dt, want, within=rounding.of_sinks(sunk))
