"""S0: NumPy, heads kept in Python lists, and every gradient written by hand.

Matrices act on the right. For head h of H, with D = E / H,

    Q_h = Q Wq_h    K_h = K Wk_h    V_h = V Wv_h            Wq_h, Wk_h, Wv_h: (E, D)
    S_h = softmax(Q_h K_h^T / sqrt(D))    out = [S_1 V_1 ... S_H V_H] Wo    Wo: (E, E)

and the loss is |out - target|^2 / 2 for each example, averaged over the batch. Backward,
from the cotangent e = (out - target) / B, with A_h the columns of head h in e Wo^T,

    dWo = C^T e        dWv_h = V^T S_h^T A_h         C: the heads side by side
    dT  = S_h (A_h V_h^T - <S_h, A_h V_h^T>) / sqrt(D)
    dWq_h = Q^T dT K_h        dWk_h = K^T dT^T Q_h

added up over the batch, where the product of S_h with the bracket goes entry by entry, and
<,> sums along a row: that is the Jacobian diag(s) - s s^T of the softmax. No bias, no mask.

Source S0 publishes this forward pass and loss, and one step of gradient descent compared
with torch's. Its gradients of Wo and Wv are these. Those of Wq and Wk are not: see
`published_faults.takes_the_diagonal_for_the_jacobian`.
"""

from typing import NamedTuple

import numpy as np

from spec.notation import Array


class Weights(NamedTuple):
    """A matrix (E, D) for each head in three lists, and one (E, E); or their gradients."""

    query: list[Array]
    key: list[Array]
    value: list[Array]
    output: Array


class Head(NamedTuple):
    """What one head made of its inputs: q (B, N, D), k and v (B, M, D), s (B, N, M)."""

    q: Array
    k: Array
    v: Array
    s: Array

    @property
    def output(self) -> Array:
        """S V.   (B, N, D)"""
        return self.s @ self.v


def softmax(x: Array) -> Array:
    """exp(x_j) / sum_j exp(x_j) along the last axis, the largest x subtracted first."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attended(q: Array, k: Array, v: Array) -> Head:
    """S = softmax(q k^T / sqrt(D)) for one head.   q (B, N, D), k (B, M, D), v (B, M, E)"""
    return Head(q, k, v, softmax(q @ k.swapaxes(-1, -2) / root(q)))


def differentiated(head: Head, dout: Array) -> tuple[Array, Array, Array]:
    """The derivatives of <dout, S V> by q, k and v of one head."""
    ds = dout @ head.v.swapaxes(-1, -2)
    dt = head.s * (ds - (head.s * ds).sum(axis=-1, keepdims=True)) / root(head.q)
    return dt @ head.k, dt.swapaxes(-1, -2) @ head.q, head.s.swapaxes(-1, -2) @ dout


def root(q: Array) -> np.floating:
    """sqrt(D), in the format of q."""
    return np.sqrt(q.dtype.type(q.shape[-1]))


def drawn(E: int, H: int, chance: np.random.Generator) -> Weights:
    """Normal weights of variance 1 / E. Raises ValueError: H does not divide E."""
    if E % H:
        raise ValueError(f"{H} heads do not divide a width of {E}")
    query, key, value = (list(chance.normal(0, E**-0.5, (H, E, E // H))) for _ in range(3))
    return Weights(query, key, value, chance.normal(0, E**-0.5, (E, E)))


def forward(
    weights: Weights, query: Array, key: Array, value: Array
) -> tuple[Array, list[Head], Array]:
    """The output (B, N, E), what each head made, and the heads side by side (B, N, E).

    query (B, N, E), key and value (B, M, E).
    """
    lists = zip(weights.query, weights.key, weights.value, strict=True)
    heads = [attended(query @ wq, key @ wk, value @ wv) for wq, wk, wv in lists]
    joined = np.concatenate([head.output for head in heads], axis=-1)
    return joined @ weights.output, heads, joined


def loss(weights: Weights, query: Array, key: Array, value: Array, target: Array) -> float:
    """|out - target|^2 / 2 for each example, averaged over the batch."""
    out, _, _ = forward(weights, query, key, value)
    return float((0.5 * (out - target) ** 2).sum(axis=(1, 2)).mean())


def gradients(weights: Weights, query: Array, key: Array, value: Array, target: Array) -> Weights:
    """The derivatives of `loss` by every matrix.   target: (B, N, E)"""
    out, _, _ = forward(weights, query, key, value)
    return backward(weights, query, key, value, (out - target) / len(out))


def backward(weights: Weights, query: Array, key: Array, value: Array, dout: Array) -> Weights:
    """The derivatives of <dout, out> by every matrix.   dout: (B, N, E)"""
    _, heads, joined = forward(weights, query, key, value)
    columns = np.split(dout @ weights.output.T, len(heads), axis=-1)
    dq, dk, dv = zip(*map(differentiated, heads, columns), strict=True)
    return Weights(
        query=[outer(query, x) for x in dq],
        key=[outer(key, x) for x in dk],
        value=[outer(value, x) for x in dv],
        output=outer(joined, dout),
    )


def backward_of_inputs(
    weights: Weights, query: Array, key: Array, value: Array, dout: Array
) -> tuple[Array, Array, Array]:
    """The derivatives of <dout, out> by query, key and value, each the sum of what heads say."""
    _, heads, _ = forward(weights, query, key, value)
    columns = np.split(dout @ weights.output.T, len(heads), axis=-1)
    places = zip(*map(differentiated, heads, columns), strict=True)
    dquery, dkey, dvalue = (
        np.add.reduce([x @ w.T for x, w in zip(found, matrices, strict=True)])
        for found, matrices in zip(places, weights[:3], strict=True)
    )
    return dquery, dkey, dvalue


def outer(x: Array, dy: Array) -> Array:
    """The derivative by W of <dy, x W>.   (B, L, E), (B, L, C): (E, C)"""
    return (x.swapaxes(-1, -2) @ dy).sum(axis=0)


def step(weights: Weights, gradients: Weights, rate: float) -> Weights:
    """One step of gradient descent: W - rate dW for every matrix."""

    def moved(matrices: list[Array], derivatives: list[Array]) -> list[Array]:
        return [w - rate * dw for w, dw in zip(matrices, derivatives, strict=True)]

    return Weights(
        query=moved(weights.query, gradients.query),
        key=moved(weights.key, gradients.key),
        value=moved(weights.value, gradients.value),
        output=weights.output - rate * gradients.output,
    )


def attend(query: Array, key: Array, value: Array) -> Array:
    """o_i = sum_j s_ij v_j, head by head, the projections left out.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    return np.stack([head.output for head in listed(query, key, value)], axis=1)


def backward_of_heads(
    dout: Array, query: Array, key: Array, value: Array
) -> tuple[Array, Array, Array]:
    """The derivatives of <dout, o>, shaped like query, key and value."""
    heads = enumerate(listed(query, key, value))
    found = [differentiated(head, dout[:, h]) for h, head in heads]
    dq, dk, dv = (np.stack(gradients, axis=1) for gradients in zip(*found, strict=True))
    return dq, dk, dv


def weights_of_heads(query: Array, key: Array, value: Array) -> Array:
    """s_ij, head by head.   (B, H, N, M)"""
    return np.stack([head.s for head in listed(query, key, value)], axis=1)


def listed(query: Array, key: Array, value: Array) -> list[Head]:
    """The heads of 4-D arrays, as a list."""
    return [attended(query[:, h], key[:, h], value[:, h]) for h in range(query.shape[1])]


vars(attend).update(backward=backward_of_heads, weights=weights_of_heads)
