"""Section U, continued. Masks and biases come after the soft-cap; gradients include its derivative.

Here c is the soft-cap, t_ij is a score before it, and s_ij = cap(t_ij) + b_ij.

Masks, causality and windows mask a key after its score is soft-capped. In the other
order -inf would become -c, and a masked key would have a weight. A bias is added to
the soft-capped score.

In the backward pass, the gradient of a score is multiplied by the derivative
cap'(t) = 1 - tanh(t / c)^2 before it reaches queries and keys, but not before it
reaches a bias.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.caps import UNBIASED, alike
from spec.attention.clauses.softmax import seen
from spec.attention.domain import ADDITIVE, BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import CAP, MASK, Capability, together
from spec.attention.proofs import any_cap
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, at_most, equal, equal_in


@clause(
    "U5",
    over=Problems(masks=BOOLEAN, caps=True, modest=True),
    catches={"caps_after_masking", "forgets_the_cap_beside_a_mask"},
)
def masking_is_applied_after_softcap(attention: Implementation, problem: Problem) -> None:
    """A masked key has weight zero, because masking is applied after the soft-cap.

        a_ij = 0    for every key j that is masked for query i

    If masking came first, the soft-cap would turn -inf into -c. Without biases, a masked key would
    then have at least exp(-2 c) times the weight of any other key.
    """
    a, within = seen(attention, problem)
    right = rounding.reference(problem).weights

    equal(np.where(problem.allowed, 0, a), np.zeros(a.shape), within=0)
    equal(a, right, within=within)


@clause(
    "U6",
    over=Problems(sinks=False, masks=PLAIN, causal=False, caps=True),
    needs={Capability.BIAS, together(MASK, CAP)},
    catches={"caps_the_bias_too"},
    effort=2,
    proof=any_cap.a_bias_is_beyond_the_cap,
)
def bias_is_added_after_softcap(attention: Implementation, problem: Problem) -> None:
    """Adding one number to all scores of a query does not change its output, however large the
    number is compared with the soft-cap.

        o(b_ij = b_i) = o(no bias)

    Softmax ignores a constant that is added to a whole row. A soft-cap on the sum t + b of score
    and bias compresses large sums, so there the constant changes the weights. If this order is
    declared (`softcap=after-bias`), the output is compared with the definition in that order.
    """
    shift = np.resize([-6.0, 16.0, 4.0], problem.N)[:, None]
    biased = problem.but(mask=np.broadcast_to(shift, (problem.N, problem.M)).copy())

    o, within = attention.forward(biased), rounding.of_output(biased)

    if problem.caps_bias:
        equal(o, rounding.reference(biased).o, within=within)
    else:
        equal(o, attention.forward(problem), within=within + rounding.of_output(problem))


@clause(
    "U7",
    over=Problems(slopes=False, sinks=False, masks=UNBIASED, caps=True),
    needs={Capability.LSE},
    catches={"measures_lse_without_the_cap"},
)
def softcap_bounds_the_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Without biases and attention sinks, the log-sum-exp differs from the logarithm of the number
    of visible keys by at most the soft-cap.

        log n_i - c <= lse_i <= log n_i + c    for n_i > 0 keys visible to query i

    Every soft-capped score lies between -c and c, where c is the soft-cap. Additive masks, ALiBi
    slopes and attention sinks are not bounded by it, so the problems have none.
    """
    flat = problem.but(softcap=0.5)
    count = flat.allowed.sum(axis=-1)

    lse = attention.lse(flat)

    middle, within = np.log(np.maximum(count, 1)), rounding.of_lse(flat)
    found = np.where(count > 0, lse, middle)
    at_least(found, middle - 0.5, within=within)
    at_most(found, middle + 0.5, within=within)


@clause(
    "U8",
    over=Problems(slopes=False, masks=PLAIN, caps=True, scales=("default",)),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_cap", "takes_the_slope_of_a_line"},
)
def saturated_softcap_passes_no_gradient(attention: Implementation, problem: Problem) -> None:
    """If every score lies far beyond the soft-cap, queries and keys receive no gradient.

        dq = 0,  dk = 0    where all t_ij >= 64 c

    Here t_ij is a score before the soft-cap c. The derivative of the soft-cap is zero where it is
    saturated. The values still receive their gradient.
    """
    flat = alike(problem)

    found, budget = attention.backward(flat), rounding.of_gradients(flat)

    equal(found.q, 0 * flat.q, within=budget.q)
    equal(found.k, 0 * flat.k, within=budget.k)
    equal(found.v, rounding.reference(flat).gradients.v, within=budget.v)


@clause(
    "U9",
    over=Problems(masks=(*UNBIASED, *ADDITIVE), caps=True, families=("lattice", "normal", "heavy")),
    needs={Capability.GRADIENTS},
    catches={
        "differentiates_without_the_cap",
        "forgets_the_slope_of_the_cap",
        "takes_the_slope_of_a_line",
        "squares_the_slope_of_the_cap",
        "takes_tanh_for_its_slope",
    },
    effort=2,
    proof=any_cap.the_slope_of_a_cap,
)
def score_gradient_includes_softcap_derivative(attention: Implementation, problem: Problem) -> None:
    """The gradient of a score is multiplied by the derivative of the soft-cap on its way to queries
    and keys.

        dq_i = scale sum_j ds_ij (1 - tanh(t_ij / c)^2) k_j,    and dk_j likewise

    Here t_ij is the score before the soft-cap c, and ds_ij is the gradient of the score after it.
    The clause catches a derivative that is missing or squared, or that is computed as 1 - (t / c)^2
    or 1 - tanh(t / c).
    """
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)

    found = attention.backward(problem)

    equal_in("qk", found, exact, within=budget)


@clause(
    "U10",
    over=Problems(masks=ADDITIVE, caps=True),
    needs={Capability.GRADIENTS, Capability.BIAS_GRADIENT},
    catches={"differentiates_without_the_cap", "damps_the_gradient_of_the_bias"},
)
def bias_gradient_skips_softcap_derivative(attention: Implementation, problem: Problem) -> None:
    """The gradient of a bias is not multiplied by the derivative of the soft-cap, because the bias
    is added to the score that is already soft-capped.

        db_ij = ds_ij    in the default order of cap and bias

    Here ds_ij is the gradient of the score s_ij = cap(t_ij) + b_ij, whose derivative with respect
    to the bias is 1. If the convention is `softcap=after-bias`, the score is cap(t_ij + b_ij), and
    the gradient of the bias does include the derivative of the soft-cap.
    """
    full = moves.written_out(problem)

    found = attention.bias_gradient(full)

    right, budget = rounding.reference(full).gradients.bias, rounding.of_gradients(full).bias
    assert right is not None
    assert budget is not None
    equal(found, right, within=budget)
