"""Section M, continued. A fully masked query returns zero and affects nothing else.

A row of scores that are all -inf has no softmax: 0 / 0. Its output is a convention,
and ours is zero: the empty sum of values. A fully masked query contributes no gradient
and receives none. Without a sink, its log-sum-exp is that of an empty sum, -inf. The
other queries return what they would return without it, even if a whole tile is fully
masked. The two other conventions, NaN and the mean over masked values, are common bugs
where they are not declared. Where NaN is declared, it spoils the gradients that pass
through it, and those are not tested. A `should` clause (M24) requires that it spoils no
other gradients.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import IDLE, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import at_sizes
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, equal_in
from spec.subject import not_offered

SOME_IDLE = Problems(masks=IDLE)


@clause(
    "M9",
    over=SOME_IDLE,
    catches={
        "gives_idle_queries_nan",
        "gives_idle_queries_the_mean",
        "lets_idle_queries_attend",
        "gives_idle_queries_the_first_value",
        "adds_minus_ten_thousand",
        "adds_minus_a_billion",
        "fills_with_minus_ten_thousand",
        "lets_idle_queries_see_themselves",
        "stumbles_over_leading_idle_queries",
        "adds_a_finite_fill_for_each",
        "uses_the_mask_of_the_first_head",
        "adds_the_lowest_number_for_each",
    },
    effort=2,
)
def fully_masked_query_returns_zero(attention: Implementation, problem: Problem) -> None:
    """A query that may attend to no key returns zeros.

        o_i = 0    if no key is allowed to i

    The empty sum of values is zero. With a finite penalty instead of -inf, a fully masked row still
    has a softmax, and the output is a mean of masked values. The convention `fully-masked` declares
    NaN or the plain mean of all values.
    """
    o = attention.forward(problem)

    idle = problem.idle[..., None]
    equal(np.where(idle, o, 0), np.zeros(o.shape), within=0)


@clause(
    "M10",
    over=Problems(masks=IDLE, least=(2, 2, 1, 1)),
    needs={Capability.FUTURE},
    catches={
        "uses_the_mask_of_the_first_batch",
        "uses_the_mask_of_the_first_head",
        "uses_the_mask_of_the_first_query",
        "swaps_batch_and_heads_of_the_mask",
        "repeats_the_mask_out_of_order",
    },
    effort=5,
)
def fully_masked_queries_do_not_affect_other_queries(
    attention: Implementation, problem: Problem
) -> None:
    """The output of a query does not depend on which other queries are fully masked.

        o_i(mask) = o_i(mask')    where the masks agree in row i

    Each row of the mask belongs to one query of one head of one batch element. A row that is used
    for another query can make that query fully masked, or unmask it.
    """
    written = moves.written_out(problem)
    assert written.mask is not None
    awake = written.mask.dtype.type(written.mask.dtype == bool)  # True, or an added 0
    everybody = written.but(mask=np.where(problem.idle[..., None], awake, written.mask))

    o, p = attention.forward(written), attention.forward(everybody)

    within = rounding.of_output(written) + rounding.of_output(everybody)
    live = ~problem.idle[..., None]
    equal(np.where(live, o, 0), np.where(live, p, 0), within=within)


@clause(
    "M11",
    over=SOME_IDLE,
    needs={Capability.GRADIENTS},
    catches={"gives_idle_queries_nan_gradients", "lets_idle_queries_teach_the_values"},
    proof=at_sizes.idle_queries_have_no_gradient,
)
def fully_masked_query_contributes_and_receives_no_gradient(
    attention: Implementation, problem: Problem
) -> None:
    """A fully masked query has a gradient of zero, and its cotangent contributes to no gradient.

        dq_i = 0    and dk, dv do not depend on dout_i    if no key is allowed to i

    The output of a fully masked query is a constant. If an implementation replaces NaN by zero
    after the softmax, NaN returns in the backward pass, where zero times NaN is NaN.
    """
    idle = problem.idle[..., None]
    silent = problem.but(dout=np.where(idle, 0, problem.dout))

    loud, quiet = attention.backward(problem), attention.backward(silent)

    equal(np.where(idle, loud.q, 0), np.zeros(problem.q.shape), within=0)
    here, there = rounding.of_gradients(problem), rounding.of_gradients(silent)
    equal(loud.k, quiet.k, within=here.k + there.k)
    equal(loud.v, quiet.v, within=here.v + there.v)


@clause(
    "M12",
    over=SOME_IDLE,
    needs={Capability.LSE},
    catches={
        "measures_zero_for_idle_queries",
        "measures_infinity_for_idle_queries",
        "measures_lse_before_masking",
    },
)
def fully_masked_query_has_lse_of_minus_infinity(
    attention: Implementation, problem: Problem
) -> None:
    """The log-sum-exp of a fully masked query without a sink is -inf, that of an empty sum.

        lse_i = -inf    if no key is allowed to i and t_h = -inf (no sink), and only then

    A part of the keys that is fully masked then has no share in a merge (X3). Zero would be the
    log-sum-exp of one key with score 0. The convention `fully-masked-lse` declares +inf.
    """
    lse = attention.lse(problem)

    equal(np.isneginf(lse).astype(float), problem.idle.astype(float), within=0)


@clause(
    "M24",
    over=SOME_IDLE,
    needs={Capability.GRADIENTS},
    catches={"gives_idle_queries_nan_gradients"},
    force="should",
)
def loss_without_fully_masked_queries_has_finite_gradients(
    attention: Implementation, problem: Problem
) -> None:
    """A loss that excludes fully masked queries has finite and correct gradients, whatever these
    queries return.

        dq, dk, dv are finite, and those of the definition    if dout_i = 0 for every fully masked i

    Excluding them is the usual workaround for NaN outputs. The workaround fails if the weights are
    NaN too: NaN times a cotangent of zero is NaN, in the gradient of every value.
    """
    silent = problem.but(dout=np.where(problem.idle[..., None], 0, problem.dout))
    settled = attention.unsettled is not not_offered

    found = (attention.unsettled if settled else attention.backward)(silent)

    want, within = rounding.reference(silent).gradients, rounding.of_gradients(silent)
    equal_in("qkv", found, want, within=within)
