"""What S0 and S4 publish and should not, kept so that certification can refuse it.

Each function is named after what is wrong with it. Beside it stands the layer that has the
fault, and an attention function if the fault shows in one:

    takes_the_diagonal_for_the_jacobian   S0   DiagonalForTheJacobian
                                               differentiates_softmax_by_element
    softmax_of_nothing_is_nan             S4   NothingIsNaN
                                               attends_to_nothing_as_nan

The specification has these among its mistakes. S0's gradient is two of them at once, and the
first of its two is there for functions too, from where the function here is taken.
"""

import numpy as np

from implementations.systems.list_of_heads import Weights, backward, forward, outer, root
from implementations.systems.torch_names import Inputs, ListOfHeadsLayer, PaddedLayer
from implementations.systems.valid_lengths import ValidLengthsLayer
from spec.attention.mistakes.gradients import differentiates_softmax_by_element
from spec.notation import Array

__all__ = [
    "DiagonalForTheJacobian",
    "NothingIsNaN",
    "attends_to_nothing_as_nan",
    "differentiates_softmax_by_element",
    "softmax_of_nothing_is_nan",
    "takes_the_diagonal_for_the_jacobian",
]


def takes_the_diagonal_for_the_jacobian(
    weights: Weights, query: Array, key: Array, value: Array, dout: Array
) -> Weights:
    """S0's gradients for a cotangent: those of Wo and Wv are right, the others not.

        dWq_h = Q^T A_h V_h^T B_h K_h        dWk_h = K^T (V_h^T A_h V_h^T B_h)^T

    With B_h = S_h (1 - S_h) / sqrt(D), entry by entry: the diagonal of the Jacobian of the
    softmax, where s_i s_j stands beside it. It is then multiplied as a matrix, where even
    the diagonal would multiply entry by entry; and Q_h is not in dWk_h at all, but V_h twice.
    With one token S = 1 and B = 0, which is right, for one token has nothing to choose.

    Raises ValueError: there are not as many keys as queries, for then nothing fits.
    """
    _, heads, joined = forward(weights, query, key, value)
    columns = np.split(dout @ weights.output.T, len(heads), axis=-1)
    dq, dk = [], []
    for head, a in zip(heads, columns, strict=True):
        b = head.s * (1 - head.s) / root(head.q)
        turned = head.v.swapaxes(-1, -2)
        dq.append(outer(query, a @ turned @ b @ head.k))
        dk.append(outer(key, (turned @ a @ turned @ b).swapaxes(-1, -2)))
    dv = [outer(value, h.s.swapaxes(-1, -2) @ a) for h, a in zip(heads, columns, strict=True)]
    return Weights(dq, dk, dv, outer(joined, dout))


class DiagonalForTheJacobian(ListOfHeadsLayer):
    """S0 with the gradients that it publishes, wherever they have a shape: with as many keys
    as queries. The derivatives by the inputs, which it does not publish, are right.
    """

    def differentiated(self, inputs: Inputs, dout: Array) -> Weights:
        """The derivatives by the matrices: of these, dWq and dWk are wrong."""
        square = inputs[0].shape[1] == inputs[1].shape[1]
        found = takes_the_diagonal_for_the_jacobian if square else backward
        return found(self.weights, *inputs, dout)


def softmax_of_nothing_is_nan(s: Array) -> Array:
    """S4's softmax: the largest of no scores is -inf, and -inf - (-inf) is NaN."""
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attends_to_nothing_as_nan(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None
) -> Array:
    """S4's attention: a query from which every key is hidden gets NaN.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    attn_mask: True where a query may attend to a key. Raises TypeError: an additive mask.
    """
    if attn_mask is not None and attn_mask.dtype != bool:
        raise TypeError("valid lengths hide keys, and add nothing to the scores of others")
    with np.errstate(over="ignore", invalid="ignore"):  # a hidden key may hold anything
        s = query @ key.swapaxes(-1, -2) / root(query)
    seen = True if attn_mask is None else attn_mask
    return softmax_of_nothing_is_nan(np.where(seen, s, -np.inf).astype(s.dtype)) @ value


class _NothingIsNaN(ValidLengthsLayer):
    softmax = staticmethod(softmax_of_nothing_is_nan)


class NothingIsNaN(PaddedLayer):
    """S4 as published: a sequence of valid length 0 makes its queries NaN."""

    made = _NothingIsNaN
