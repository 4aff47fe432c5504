"""Section D. Dropout zeroes attention weights at random and scales up the others.

In training, each attention weight is dropped with probability p, independently of all
others. A weight that is kept is divided by 1 - p:

    w_ij = m_ij a_ij / (1 - p)      o_i = sum_j w_ij v_j

(dropout: Srivastava et al. 2014). The mean of w is therefore a, and evaluation needs no
correction. Dropout follows the softmax: the kept weights are not normalised again.

The mask is random, but it can be observed: if the values are the identity, the output is w
itself. We read the mask this way, and repeat the call with the same seed. The output and
every gradient then have a closed form, which must hold up to rounding. The modules that
follow test the randomness itself.
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
def dropout_zeroes_or_rescales_each_weight(network: Dropout, problem: Problem) -> None:
    """After dropout, each weight is either 0 or the attention weight divided by 1 - p.

        w_ij = 0    or    w_ij = a_ij / (1 - p)

    Here a_ij are the weights before dropout, w_ij those after it, and p is the dropout rate. No
    other value is allowed, and nothing is normalised again: the weights of a query need not sum to
    one.
    """
    w = used_weights(network, problem)

    known = bounds(problem, w != 0)
    equal(w, known.w, within=known.weights)


@clause(
    "D2",
    over=Problems(),
    catches={"drops_the_output", "drops_entries_of_the_values", "draws_again_for_the_values"},
)
def dropout_output_uses_the_kept_weights(network: Dropout, problem: Problem) -> None:
    """The output is the sum of the values, weighted by the kept and rescaled weights.

        o_i = sum_j m_ij a_ij v_j / (1 - p)    m_ij = 1 if a weight is kept, else 0; p < 1

    Here p is the dropout rate. The mask m is read from another call with the same seed. Dropout
    applies to the weights, not to entries of the values and not to entries of the output.
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
def value_gradients_use_the_same_dropout_mask(network: Dropout, problem: Problem) -> None:
    """The gradient of the values uses exactly the weights that the forward pass used.

        dv_j = sum_i m_ij a_ij dout_i / (1 - p)    m_ij = 1 if a weight is kept, else 0; p < 1

    Here p is the rate. A backward pass draws no new mask m: it either stores the mask or generates
    it again from the same random numbers.
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
def query_gradients_use_the_same_dropout_mask(network: Dropout, problem: Problem) -> None:
    """The gradient of the queries passes through the forward mask, and then through the softmax.

        da_ij = m_ij <dout_i, v_j> / (1 - p)      ds_ij = a_ij (da_ij - sum_j a_ij da_ij)
        dq_i  = scale sum_j ds_ij k_j    m_ij = 1 if a weight is kept, else 0; rate p < 1

    The score of a dropped weight can still receive a gradient, because it took part in the softmax
    of its row.
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
def key_gradients_use_the_same_dropout_mask(network: Dropout, problem: Problem) -> None:
    """The gradient of the keys passes through the forward mask, and then through the softmax.

        da_ij = m_ij <dout_i, v_j> / (1 - p)      ds_ij = a_ij (da_ij - sum_j a_ij da_ij)
        dk_j  = scale sum_i ds_ij q_i    m_ij = 1 if a weight is kept, else 0; rate p < 1

    A key whose weight was dropped for every query can still receive a gradient through the softmax.
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
def returned_weights_include_dropout(network: Dropout, problem: Problem) -> None:
    """The returned weights are the weights after dropout, with zeros where a weight was dropped.

        shown_ij = w_ij

    Here shown_ij are the returned weights, and w_ij those that produced the output; w_ij may sum
    to more than one, which surprises users (pytorch/pytorch#42929). Returning the weights
    before dropout is a legitimate choice, so this clause is only a `should`.
    """
    known = bounds(problem, kept(network, problem))

    shown = network.weights(problem)

    equal(shown, known.w, within=known.weights)
    equal(np.where(known.w == 0, shown, 0), 0, within=0)
