"""Section Z, continued. Attention sinks in tiles, log-sum-exp, merging, shifts, and gradients.

The log-sum-exp includes the sink, so parts that are merged by it must count the sink once: the
state (0, t_h), for the sink without any key, is merged with the state of the keys.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.clauses.sinks import SUNK, near
from spec.attention.domain import ADDITIVE, IDLE, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_sink
from spec.attention.record import Implementation
from spec.attention.rounding.reference import of_reader
from spec.clause import clause
from spec.comparison import equal, equal_in
from spec.formats import rounded

WITH_LSE = {Capability.LSE}
SPREAD = ("lattice", "normal", "heavy")  # families


@clause(
    "Z8",
    over=Problems(sinks=True, masks=PLAIN, tiled="keys"),
    catches={
        "counts_the_sink_in_every_tile",
        "forgets_sinks_beyond_a_tile",
        "counts_a_sink_on_every_rank",
    },
    effort=2,
)
def sink_counts_once_across_key_tiles(attention: Implementation, problem: Problem) -> None:
    """A sink counts exactly once, no matter how many tiles the keys are split into.

        o_i = sum_j a_ij v_j,    a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij))    for any M

    A kernel that starts each tile, or each device, with the sink counts it more than once.
    """
    sunk = near(problem)

    o = attention.forward(sunk)

    equal(o, rounding.reference(sunk).o, within=rounding.of_output(sunk))


@clause(
    "Z9",
    over=Problems(sinks=True, families=("lattice", "ties"), caps=False),
    needs={Capability.SCALE},
    catches={"scales_the_sink"},
)
def scale_does_not_apply_to_sink(attention: Implementation, problem: Problem) -> None:
    """The scale does not multiply the sink, so scaling the queries instead gives the same output.

        o(q; scale = 1 / 2; t) = o(q / 2; scale = 1; t)

    A kernel that multiplies all logits by scale * log2(e) in one step must first divide the sink
    by the scale.
    """
    sunk = near(problem)
    asked = sunk.but(scale=0.5)
    halved = sunk.but(q=rounded(problem.q / 2, problem.dtype), scale=1.0)

    o, p = attention.forward(asked), attention.forward(halved)

    equal(o, p, within=rounding.of_output(asked) + rounding.of_output(halved))


@clause(
    "Z11",
    over=SUNK,
    needs=WITH_LSE,
    catches={"measures_lse_without_the_sink", "adds_the_sink_to_lse"},
    proof=any_sink.the_sink_is_in_the_log_sum_exp,
)
def log_sum_exp_includes_the_sink(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp includes the sink as one more term.

        lse(t) = log (exp(lse(no sinks)) + exp(t_h))

    Here t_h is the sink of head h. A backward pass computes weights as exp(s_ij - lse_i), which is
    a_ij only if lse_i includes t_h.
    """
    sunk = near(problem)
    plain = sunk.but(sinks=None)
    assert sunk.sinks is not None

    lse, keys = attention.lse(sunk), attention.lse(plain)

    both = np.logaddexp(keys, sunk.sinks[:, None])
    within = rounding.of_lse(sunk) + rounding.of_lse(plain)
    equal(lse, both, within=within + of_reader(1 + np.abs(both), sunk))


@clause(
    "Z12",
    over=Problems(sinks=True, masks=IDLE),
    needs=WITH_LSE,
    catches={"measures_minus_infinity_without_keys"},
)
def fully_masked_query_has_lse_of_its_sink(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp of a fully masked query is its sink.

        lse_i = t_h    where i may attend to no key

    The sink is then the only term of the sum. Without sinks the sum is empty: lse_i = -inf (M12).
    """
    sunk = near(problem)
    alone = np.logical_not(sunk.allowed.any(axis=-1))
    assert sunk.sinks is not None

    lse = attention.lse(sunk)

    want = np.where(alone, sunk.sinks[:, None], lse)
    equal(lse, want, within=rounding.of_lse(sunk))


@clause(
    "Z13",
    over=Problems(sinks=True, masks=PLAIN),
    needs={Capability.BIAS, Capability.FUTURE},
    catches={"adds_the_sink_before_the_bias", "takes_the_exponential_of_a_sink_alone"},
    proof=any_sink.scores_and_sink_have_no_origin,
)
def softmax_with_sink_is_shift_invariant(attention: Implementation, problem: Problem) -> None:
    """Adding a constant to all scores of a head and to its sink does not change the output.

        o(s + c_h; t + c_h) = o(s; t)

    A sink is one more score of the softmax, so S5 (scores plus a constant) applies.
    """
    plain = near(problem.but(softcap=None))
    c = np.resize([8.0, -4.0, 16.0], problem.H)
    assert plain.sinks is not None
    biased = moves.with_bias(plain, c[:, None, None]).but(sinks=plain.sinks + c)

    o, p = attention.forward(plain), attention.forward(biased)

    equal(o, p, within=rounding.of_output(plain) + rounding.of_output(biased))


@clause(
    "Z14",
    over=Problems(sinks=True, families=SPREAD, exact="gradients in 16 bits"),
    needs={Capability.GRADIENTS, Capability.SINK_GRADIENT},
    catches={
        "returns_zero_gradients_of_sinks",
        "takes_sink_gradients_from_the_first_batch",
        "takes_the_gradient_of_a_sink_to_be_positive",
        "averages_sink_gradients_over_queries",
        "forgets_the_output_in_sink_gradients",
        "forgets_the_share_in_sink_gradients",
        "differentiates_without_the_sinks",
    },
    effort=2,
    proof=any_sink.the_gradient_of_a_sink,
)
def sink_gradient_is_weighted_by_its_share(attention: Implementation, problem: Problem) -> None:
    """Each query contributes to the gradient of its sink in proportion to the sink's share.

        dt_h = -sum_i exp(t_h - lse_i) <dout_i, o_i>    over all queries of the batch, t_h finite

    Here t_h is the sink of head h, and lse_i includes it, so exp(t_h - lse_i) is its share. A
    larger sink reduces all weights of a query in proportion: do_i / dt_h = -exp(t_h - lse_i) o_i.
    """
    sunk = near(problem) if np.any(problem.sinks) else problem  # zeros are those of `exact`
    right, budget = rounding.wanted(sunk, "dsinks")

    found = attention.sink_gradient(sunk)

    equal(found, right, within=budget)


@clause(
    "Z15",
    over=Problems(sinks=True, families=SPREAD),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_sinks", "divides_the_row_term_by_what_is_left"},
    effort=2,
)
def gradients_account_for_the_sink(attention: Implementation, problem: Problem) -> None:
    """The gradients of q, k and v use the weights that have the sink in their denominator.

        ds_ij = a_ij (da_ij - sum_j a_ij da_ij),    dv_j = sum_i a_ij dout_i

    Here ds_ij is the derivative of the loss by the score s_ij, and da_ij = <dout_i, v_j>. With a
    sink, sum_j a_ij is not one. A backward pass that assumes a sum of one is wrong.
    """
    sunk = near(problem)
    exact, budget = rounding.reference(sunk).gradients, rounding.of_gradients(sunk)

    found = attention.backward(sunk)

    equal_in("qkv", found, exact, within=budget)


@clause(
    "Z16",
    over=Problems(sinks=True, masks=ADDITIVE),
    needs={Capability.BIAS_GRADIENT, Capability.SINK_GRADIENT},
    catches={"returns_zero_gradients_of_sinks", "forgets_the_output_in_sink_gradients"},
    proof=any_sink.gradients_of_scores_and_sink_sum_to_zero,
)
def bias_and_sink_gradients_sum_to_zero(attention: Implementation, problem: Problem) -> None:
    """The gradients of the biases of a head and of its sink sum to zero.

        sum_ij db_ij + dt_h = 0    over all queries and keys of the batch

    This is Z13, o(s + c; t + c) = o(s; t), differentiated in c at c = 0, and M17 with sinks. The
    sum need not be zero if biases are soft-capped (`softcap=after-bias`).
    """
    full = near(moves.written_out(problem).but(softcap=None))
    budget = rounding.of_gradients(full)
    assert budget.bias is not None
    assert budget.sinks is not None

    db, dt = attention.bias_gradient(full), attention.sink_gradient(full)

    within = definition.reduced(budget.bias, (1, problem.H, 1, 1)).reshape(problem.H) + budget.sinks
    equal(db.sum(axis=(0, 2, 3)) + dt, np.zeros(problem.H), within=within)


@clause(
    "Z17",
    over=Problems(slopes=False, sinks=True, causal=False, least=(1, 1, 1, 2)),
    needs=WITH_LSE,
    catches={"adds_the_sink_to_lse"},
    proof=any_sink.one_part_has_the_sink,
)
def merged_parts_count_the_sink_once(attention: Implementation, problem: Problem) -> None:
    """When parts of the keys are merged by their log-sum-exp, exactly one part includes the sink.

        exp(lse) = exp(lse_1) + exp(lse_2)    with the sink in the first part alone

    Here lse_1 and lse_2 are those of two parts, by which their outputs are weighted. A sink in both
    would count twice.
    """
    sunk = near(problem)
    cut = problem.chance().randrange(1, problem.M)
    first = moves.of_keys(sunk, slice(cut))
    second = moves.of_keys(sunk, slice(cut, None)).but(sinks=None)

    lse = attention.lse(first), attention.lse(second), attention.lse(sunk)

    merged = np.logaddexp(lse[0], lse[1])
    within = sum(rounding.of_lse(x) for x in (first, second, sunk))
    equal(lse[2], merged, within=within + of_reader(1 + np.abs(merged), sunk))
