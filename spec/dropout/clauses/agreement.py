"""Section D. Dropout: some weights are dropped by chance, and the others grow to make up.

In training each weight of attention is dropped with probability p, independently of all
others, and divided by 1 - p if it is kept:

    w_ij = m_ij a_ij / (1 - p)      o_i = sum_j w_ij v_j

(dropout: Srivastava et al. 2014). So the mean of w is a, and in evaluation there is nothing
to do. Dropout comes after the softmax: the kept weights are not normalised again.

The mask is chance, but it is not hidden: with the identity for values the output is w
itself. Read off that way, at the same seed, it turns the output and every gradient into a
closed form, to be held to within rounding. What is left to chance comes after.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal
from spec.dropout import proofs
from spec.dropout.domain import Problems
from spec.dropout.notation import Dropout, Problem
from spec.dropout.reading import kept, used_weights
from spec.dropout.rounding import bounds


@clause(
    "D1",
    over=Problems(),
    catches={
        "forgets_to_scale",
        "scales_by_the_rate",
        "multiplies_by_the_rate",
        "drops_before_normalising",
        "drops_the_scores",
        "normalises_again",
    },
)
def a_weight_is_dropped_or_divided(network: Dropout, problem: Problem) -> None:
    """A weight that is used is 0, or the weight of attention divided by 1 - p.

        w_ij = 0    or    w_ij = a_ij / (1 - p)

    Nothing between, and no normalising: the weights of a query need not sum to one.
    """
    w = used_weights(network, problem)

    known = bounds(problem, w != 0)
    equal(w, known.w, within=known.weights)


@clause(
    "D2",
    over=Problems(),
    catches={"drops_the_output", "drops_entries_of_the_values", "draws_again_for_the_values"},
)
def the_output_is_that_of_the_kept_weights(network: Dropout, problem: Problem) -> None:
    """The output is the sum of the values under the weights that were kept.

        o_i = sum_j m_ij a_ij v_j / (1 - p)

    The mask is read off at the same seed. What is dropped are weights, and neither entries of
    the values nor entries of the output.
    """
    known = bounds(problem, kept(network, problem))

    o = network.forward(problem)

    equal(o, known.o, within=known.output)


@clause(
    "D3",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "draws_again_backward",
        "forgets_the_mask_backward",
        "multiplies_by_the_rate_backward",
    },
    proof=proofs.the_gradients_are_the_derivatives,
)
def value_gradients_use_the_same_mask(network: Dropout, problem: Problem) -> None:
    """The gradient of the values goes through the very weights that the forward pass used.

        dv_j = sum_i m_ij a_ij dout_i / (1 - p)

    A backward pass draws nothing: it keeps the mask, or makes it again from the same numbers.
    """
    known = bounds(problem, kept(network, problem))

    dv = network.backward(problem).v

    equal(dv, known.gradients.v, within=known.of_gradients.v)


@clause(
    "D4",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "draws_again_backward",
        "multiplies_by_the_rate_backward",
        "drops_only_the_values_backward",
        "takes_the_row_term_of_all_weights",
    },
    proof=proofs.the_gradients_are_the_derivatives,
)
def query_gradients_use_the_same_mask(network: Dropout, problem: Problem) -> None:
    """The gradient of the queries passes back through the mask, and then through the softmax.

        da_ij = m_ij <dout_i, v_j> / (1 - p)      ds_ij = a_ij (da_ij - sum_j a_ij da_ij)
        dq_i  = scale sum_j ds_ij k_j

    A dropped weight still has a score, which took part in the softmax of its row.
    """
    known = bounds(problem, kept(network, problem))

    dq = network.backward(problem).q

    equal(dq, known.gradients.q, within=known.of_gradients.q)


@clause(
    "D5",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"draws_again_backward", "multiplies_by_the_rate_backward", "drops_score_gradients"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def key_gradients_use_the_same_mask(network: Dropout, problem: Problem) -> None:
    """The gradient of the keys passes back the same way.

        dk_j = scale sum_i ds_ij q_i

    A key whose weight was dropped for every query still gets a gradient, by the softmax.
    """
    known = bounds(problem, kept(network, problem))

    dk = network.backward(problem).k

    equal(dk, known.gradients.k, within=known.of_gradients.k)


@clause(
    "D6",
    over=Problems(),
    needs={Capability.WEIGHTS},
    catches={"shows_the_weights_before_dropout", "shows_another_draw"},
    force="should",
)
def the_weights_shown_are_those_used(network: Dropout, problem: Problem) -> None:
    """The weights that are returned are those that were used, dropped ones among them.

        shown_ij = w_ij

    They may sum to more than one, which surprises (pytorch/pytorch#42929), but the output is
    theirs. To return the weights before dropout is a choice, and so this is only a `should`.
    """
    known = bounds(problem, kept(network, problem))

    shown = network.weights(problem)

    equal(shown, known.w, within=known.weights)
    equal(np.where(known.w == 0, shown, 0), 0, within=0)
