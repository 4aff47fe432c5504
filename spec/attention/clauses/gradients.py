"""Section A, continued. The gradients match the definition.

With the cotangent dout the loss is L = <dout, o>. Differentiate o_i = sum_j a_ij v_j:

    dv_j = sum_i a_ij dout_i        da_ij = <dout_i, v_j>

The weights of a query share a denominator, so each score changes all of them:

    ds_ij = sum_l da_il (d a_il / d s_ij) = a_ij (da_ij - sum_l a_il da_il)

The score s_ij = scale <q_i, k_j> + b_ij passes this gradient on to its inputs:

    dq_i = scale sum_j ds_ij k_j        dk_j = scale sum_i ds_ij q_i        db_ij = ds_ij

An input that is used several times receives the sum of its gradients. A key head sums
over the query heads that share it, and a mask over the axes along which it was broadcast.
"""

from spec.attention import rounding
from spec.attention.definition import reduced
from spec.attention.domain import ADDITIVE, EVERY, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import at_sizes
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "A2",
    over=Problems(masks=EVERY, few=True, mixed=True, exact="gradients"),
    needs={Capability.GRADIENTS},
    catches={
        "differentiates_softmax_by_element",
        "returns_zero_query_gradients",
        "scales_query_gradients_twice",
        "forgets_the_scale_of_query_gradients",
        "detaches_the_weights",
        "rounds_score_gradients_to_float16",
        "remembers_the_last_logarithm",
    },
    effort=3,
    proof=at_sizes.the_query_gradient_is_the_derivative,
)
def query_gradient_matches_the_definition(attention: Implementation, problem: Problem) -> None:
    """The gradient of <dout, o> with respect to the queries equals its closed form.

        dq_i = scale sum_j ds_ij k_j,    ds_ij = a_ij (da_ij - sum_l a_il da_il)

    Here da_ij = <dout_i, v_j> is the gradient of a weight, and ds_ij that of its score. The sum in
    the brackets is the row term of the softmax, which an element-wise derivative lacks. The scale
    is a factor of dq and of dk, once in each. A soft-cap c multiplies ds_ij by its slope,
    1 - tanh(t_ij / c)^2 with t_ij the score before the soft-cap.
    """
    dq = attention.backward(problem).q

    equal(dq, rounding.reference(problem).gradients.q, within=rounding.of_gradients(problem).q)


@clause(
    "A3",
    over=Problems(masks=EVERY, few=True, mixed=True, exact="gradients"),
    needs={Capability.GRADIENTS},
    catches={
        "differentiates_softmax_by_element",
        "forgets_the_scale_of_key_gradients",
        "drops_the_last_query_from_key_gradients",
        "gives_keys_the_gradients_of_queries",
        "detaches_the_weights",
        "teaches_the_keys_of_its_own_rank",
    },
    effort=3,
    proof=at_sizes.the_key_gradient_is_the_derivative,
)
def key_gradient_matches_the_definition(attention: Implementation, problem: Problem) -> None:
    """The gradient of <dout, o> with respect to the keys equals its closed form.

        dk_j = scale sum_i ds_ij q_i

    Here ds_ij is the gradient of the score before any soft-cap (A2). The gradient of a key is a sum
    over all queries, and over the query heads that share the key head.
    """
    dk = attention.backward(problem).k

    equal(dk, rounding.reference(problem).gradients.k, within=rounding.of_gradients(problem).k)


@clause(
    "A4",
    over=Problems(masks=EVERY, few=True, mixed=True, exact="gradients"),
    needs={Capability.GRADIENTS},
    catches={
        "forgets_the_denominator_of_value_gradients",
        "drops_the_tail_from_value_gradients",
        "differentiates_the_sum_of_the_output",
        "takes_one_head_of_each_group",
        "differentiates_by_its_own_keys",
    },
    effort=3,
    proof=at_sizes.the_value_gradient_is_the_derivative,
)
def value_gradient_matches_the_definition(attention: Implementation, problem: Problem) -> None:
    """The gradient of <dout, o> with respect to the values equals its closed form.

        dv_j = sum_i a_ij dout_i

    The gradient of a value is also a sum over the query heads that share the key head. The weights
    are the normalised ones: a backward pass that recomputes exp(s - max) still has to divide by the
    denominator.
    """
    dv = attention.backward(problem).v

    equal(dv, rounding.reference(problem).gradients.v, within=rounding.of_gradients(problem).v)


@clause(
    "A5",
    over=Problems(masks=(*ADDITIVE, "additive idle"), few=True, exact="gradients in 16 bits"),
    needs={Capability.GRADIENTS, Capability.BIAS_GRADIENT},
    catches={"returns_no_bias_gradient", "takes_one_slice_of_the_bias_gradient"},
    effort=2,
    proof=at_sizes.the_bias_gradient_is_the_derivative,
)
def bias_gradient_matches_the_definition(attention: Implementation, problem: Problem) -> None:
    """The gradient with respect to an additive mask is the gradient of the scores.

        db_ij = ds_ij

    Here ds_ij is the gradient of the score to which b_ij is added. It includes the slope of a
    soft-cap (A2) only if the soft-cap follows the bias. The gradient is summed over every axis
    along which the mask was broadcast.
    """
    db = attention.bias_gradient(problem)

    want, budget = rounding.reference(problem).gradients.bias, rounding.of_gradients(problem).bias
    assert want is not None
    assert budget is not None
    equal(db, reduced(want, db.shape), within=rounding.of_sum(want, budget, db.shape, problem))
