"""The published bugs of list-of-heads and valid-lengths, kept so that certification rejects them.

Each function is named after its bug. The table lists the layer that has the bug, and below it an
attention function that shows the bug:

    takes_the_diagonal_for_the_jacobian   list-of-heads   DiagonalForTheJacobian
                                                          differentiates_softmax_by_element
    softmax_of_nothing_is_nan             valid-lengths   NothingIsNaN
                                                          attends_to_nothing_as_nan

The specification has these bugs in its catalogues of known bugs. The gradient of list-of-heads
combines two of them. The first of the two also exists for functions, in the attention chapter,
from which `differentiates_softmax_by_element` is imported.
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
    """Return the published gradients: those of Wo and Wv are right, the others are wrong.

        dWq_h = Q^T A_h V_h^T B_h K_h        dWk_h = K^T (V_h^T A_h V_h^T B_h)^T

    B_h = S_h (1 - S_h) / sqrt(D), element by element, is only the diagonal of the Jacobian of
    the softmax; the terms -s_i s_j off the diagonal are missing. The code then multiplies by
    B_h as a matrix, although even the diagonal would multiply element by element. dWk_h
    contains V_h twice, and no Q_h. With one token, S = 1 and B = 0, which is right: the
    weight of a single key is constant.

    Raises ValueError if there are not as many keys as queries: the shapes then do not match.
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
    """The list-of-heads layer with its published gradients.

    They exist only for as many keys as queries; otherwise this layer uses the right gradients.
    The gradients of the inputs, which the source does not publish, are right.
    """

    def differentiated(self, inputs: Inputs, dout: Array) -> Weights:
        """Return the gradients of the matrices, of which dWq and dWk are wrong."""
        square = inputs[0].shape[1] == inputs[1].shape[1]
        found = takes_the_diagonal_for_the_jacobian if square else backward
        return found(self.weights, *inputs, dout)


def softmax_of_nothing_is_nan(s: Array) -> Array:
    """Return the softmax of valid-lengths: NaN for a row of -inf, as -inf - (-inf) is NaN."""
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attends_to_nothing_as_nan(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None
) -> Array:
    """Return the attention of valid-lengths as published: NaN for a fully masked query.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    attn_mask: True where a query may attend to a key. Raises TypeError for an additive mask.
    """
    if attn_mask is not None and attn_mask.dtype != bool:
        raise TypeError("valid lengths hide keys, and add nothing to the scores of others")
    with np.errstate(over="ignore", invalid="ignore"):  # a masked key may hold anything
        s = query @ key.swapaxes(-1, -2) / root(query)
    seen = True if attn_mask is None else attn_mask
    return softmax_of_nothing_is_nan(np.where(seen, s, -np.inf).astype(s.dtype)) @ value


class _NothingIsNaN(ValidLengthsLayer):
    softmax = staticmethod(softmax_of_nothing_is_nan)


class NothingIsNaN(PaddedLayer):
    """The valid-lengths layer as published: NaN for the queries of a sequence of length 0."""

    made = _NothingIsNaN
