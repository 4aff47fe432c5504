"""Section C, continued. Later tokens receive no gradient from earlier outputs.

A key in the future of a query has weight zero there (C4). It contributes nothing to
the gradient of that query, and receives nothing from the query's cotangent:

    ds_ij = a_ij (da_ij - sum_l a_il da_il) = 0    for j in the future of i

The sums for dk_j and dv_j keep only the queries that may attend to j. A token thus
receives gradients from the outputs at its own position and after it, and from no
others. For N = M, one term remains at each end: only the first key is visible to the
first query, whose gradient is therefore zero without a sink, and the last key is visible
only to the last query.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.clauses.causality import ALONE, SQUARE, SQUARE_OF_TWO
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import at_sizes, exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "C9",
    over=SQUARE_OF_TWO,
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_causality"},
    proof=exactly.the_past_learns_nothing_from_the_future,
)
def later_tokens_receive_no_gradient_from_earlier_outputs(
    attention: Implementation, problem: Problem
) -> None:
    """A loss on only the first t outputs gives no gradient to later queries, keys and values.

        dk_j = 0,  dv_j = 0,  dq_j = 0    for j >= t, if dout_i = 0 for i >= t

    This is C3 (future keys) differentiated. The queries from t on do not contribute to the loss.
    """
    t = problem.chance().randrange(1, problem.N)
    early = problem.dout.copy()
    early[:, :, t:] = 0

    gradients = attention.backward(problem.but(dout=early))

    for x in (gradients.q, gradients.k, gradients.v):
        equal(x[:, :, t:], np.zeros(x[:, :, t:].shape), within=0)


@clause(
    "C10",
    over=ALONE,
    needs={Capability.GRADIENTS},
    catches={"drops_the_row_term", "differentiates_without_causality"},
    proof=at_sizes.the_first_causal_query_has_no_gradient,
)
def first_causal_query_has_zero_gradient(attention: Implementation, problem: Problem) -> None:
    """The first query sees at most one key, so no loss of the output has a gradient there.

        dq_0 = 0

    This is C2 differentiated in q_0: with a single weight of 1, ds = da - da.
    """
    dq = attention.backward(problem).q

    equal(dq[:, :, 0], 0 * problem.q[:, :, 0], within=rounding.of_gradients(problem).q[:, :, 0])


@clause(
    "C11",
    over=SQUARE,
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_causality", "forgets_the_denominator_of_value_gradients"},
)
def last_value_gets_gradient_only_from_last_query(
    attention: Implementation, problem: Problem
) -> None:
    """The gradient of the last value comes from the last query alone.

        dv_(M-1) = a_(N-1, M-1) dout_(N-1)    summed over the heads that share it

    The sum over i has only this term. It is usually not zero, so a missing gradient fails here.
    """
    a = definition.weights(problem.wide())[:, :, -1, -1:]

    dv = attention.backward(problem).v

    want = definition.gathered(a * problem.dout[:, :, -1], problem.G)
    equal(dv[:, :, -1], want, within=rounding.of_gradients(problem).v[:, :, -1])
