"""Section U, continued. What is hidden or added lies beyond a cap, and what flows back meets it.

Masks, causality and windows hide a key after its score was capped, or -inf would be -c, and a
hidden key would have a weight. What a mask adds is added to the capped score.

Backward, what a score receives is multiplied by the slope cap'(t) = 1 - tanh(t / c)^2 on its way to
queries and keys, and not on its way to a bias.
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
from spec.comparison import at_least, at_most, equal


@clause(
    "U5",
    over=Problems(masks=BOOLEAN, caps=True, modest=True),
    catches={"caps_after_masking", "forgets_the_cap_beside_a_mask"},
)
def what_is_hidden_is_not_capped(attention: Implementation, problem: Problem) -> None:
    """A key that is hidden has no weight at all: it is forbidden after the cap, not before.

        a_ij = 0    for every key j that is hidden from i

    Capped after it was hidden, -inf is -c, and a hidden key weighs exp(-2 c) at least.
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
def what_is_added_is_not_capped(attention: Implementation, problem: Problem) -> None:
    """A number that is added to all scores of a query changes nothing, however large the cap is.

        o(b_ij = b_i) = o(no bias)

    Softmax forgets what a row has in common. A cap that is put upon the sum does not: it presses
    what lies beyond it together; where that is what is declared, it does so by the definition.
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
def the_log_sum_exp_is_capped(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp lies within a cap of the logarithm of the number of keys.

    log n_i - c <= lse_i <= log n_i + c    for n_i > 0 keys that query i sees
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
def beyond_a_cap_no_gradient_passes(attention: Implementation, problem: Problem) -> None:
    """Where every score lies far beyond the cap, no gradient reaches queries and keys.

        dq = 0,  dk = 0    where all t_ij >= 64 c

    A slope of a cap that is reached is zero; and yet the values have their gradients.
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
def gradients_pass_through_the_slope(attention: Implementation, problem: Problem) -> None:
    """What a score receives reaches queries and keys by the slope of the cap.

    dq_i = scale sum_j ds_ij (1 - tanh(t_ij / c)^2) k_j,    and dk_j likewise
    """
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)

    found = attention.backward(problem)

    equal(found.q, exact.q, within=budget.q)
    equal(found.k, exact.k, within=budget.k)


@clause(
    "U10",
    over=Problems(masks=ADDITIVE, caps=True),
    needs={Capability.GRADIENTS, Capability.BIAS_GRADIENT},
    catches={"differentiates_without_the_cap", "damps_the_gradient_of_the_bias"},
)
def the_gradient_of_a_bias_meets_no_slope(attention: Implementation, problem: Problem) -> None:
    """A bias is added after the cap, so that what it receives is not damped.

    db_ij = ds_ij
    """
    full = moves.written_out(problem)

    found = attention.bias_gradient(full)

    right, budget = rounding.reference(full).gradients.bias, rounding.of_gradients(full).bias
    assert right is not None
    assert budget is not None
    equal(found, right, within=budget)
