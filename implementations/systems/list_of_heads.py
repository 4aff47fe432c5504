"""The list-of-heads system: NumPy, heads in Python lists, every gradient written by hand.

Matrices act on the right. For head h of H, with D = E / H,

    Q_h = Q Wq_h    K_h = K Wk_h    V_h = V Wv_h            Wq_h, Wk_h, Wv_h: (E, D)
    S_h = softmax(Q_h K_h^T / sqrt(D))    out = [S_1 V_1 ... S_H V_H] Wo    Wo: (E, E)

The loss is |out - target|^2 / 2 for each example, averaged over the batch. The backward pass
starts from the cotangent e = (out - target) / B. With A_h for the columns of head h in e Wo^T,
the gradients are

    dWo = C^T e        dWv_h = V^T S_h^T A_h         C: the concatenated heads
    dT  = S_h (A_h V_h^T - <S_h, A_h V_h^T>) / sqrt(D)
    dWq_h = Q^T dT K_h        dWk_h = K^T dT^T Q_h

summed over the batch. The product of S_h with the bracket is element by element, and <,> sums
along a row: this is the Jacobian diag(s) - s s^T of the softmax. There is no bias and no mask.

The source publishes this forward pass, this loss, and a comparison of one step of gradient
descent with torch's. Its gradients of Wo and Wv are these. Its gradients of Wq and Wk are
not: `published_faults.takes_the_diagonal_for_the_jacobian` keeps them.
"""

from typing import NamedTuple

import numpy as np

from spec.notation import Array


class Weights(NamedTuple):
    """Three lists of one matrix (E, D) for each head, and one matrix (E, E); or their gradients."""

    query: list[Array]
    key: list[Array]
    value: list[Array]
    output: Array


class Head(NamedTuple):
    """The arrays of one head: q (B, N, D), k and v (B, M, D), and the weights s (B, N, M)."""

    q: Array
    k: Array
    v: Array
    s: Array

    @property
    def output(self) -> Array:
        """Return S V.   (B, N, D)"""
        return self.s @ self.v


def softmax(x: Array) -> Array:
    """Return exp(x_j) / sum_j exp(x_j) along the last axis, after subtracting the largest x."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attended(q: Array, k: Array, v: Array) -> Head:
    """Return one head, S = softmax(q k^T / sqrt(D)).   q (B, N, D), k (B, M, D), v (B, M, E)"""
    return Head(q, k, v, softmax(q @ k.swapaxes(-1, -2) / root(q)))


def differentiated(head: Head, dout: Array) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, S V> with respect to q, k and v of one head."""
    ds = dout @ head.v.swapaxes(-1, -2)
    dt = head.s * (ds - (head.s * ds).sum(axis=-1, keepdims=True)) / root(head.q)
    return dt @ head.k, dt.swapaxes(-1, -2) @ head.q, head.s.swapaxes(-1, -2) @ dout


def root(q: Array) -> np.floating:
    """Return sqrt(D), in the dtype of q."""
    return np.sqrt(q.dtype.type(q.shape[-1]))


def drawn(E: int, H: int, chance: np.random.Generator) -> Weights:
    """Draw normal weights of variance 1 / E. Raises ValueError if H does not divide E."""
    if E % H:
        raise ValueError(f"{H} heads do not divide a width of {E}")
    query, key, value = (list(chance.normal(0, E**-0.5, (H, E, E // H))) for _ in range(3))
    return Weights(query, key, value, chance.normal(0, E**-0.5, (E, E)))


def forward(
    weights: Weights, query: Array, key: Array, value: Array
) -> tuple[Array, list[Head], Array]:
    """Return the output (B, N, E), the arrays of each head, and the concatenated heads (B, N, E).

    query (B, N, E), key and value (B, M, E).
    """
    lists = zip(weights.query, weights.key, weights.value, strict=True)
    heads = [attended(query @ wq, key @ wk, value @ wv) for wq, wk, wv in lists]
    joined = np.concatenate([head.output for head in heads], axis=-1)
    return joined @ weights.output, heads, joined


def loss(weights: Weights, query: Array, key: Array, value: Array, target: Array) -> float:
    """Return |out - target|^2 / 2 for each example, averaged over the batch."""
    out, _, _ = forward(weights, query, key, value)
    return float((0.5 * (out - target) ** 2).sum(axis=(1, 2)).mean())


def gradients(weights: Weights, query: Array, key: Array, value: Array, target: Array) -> Weights:
    """Return the gradients of `loss` with respect to every matrix.   target: (B, N, E)"""
    out, _, _ = forward(weights, query, key, value)
    return backward(weights, query, key, value, (out - target) / len(out))


def backward(weights: Weights, query: Array, key: Array, value: Array, dout: Array) -> Weights:
    """Return the gradients of <dout, out> with respect to every matrix.   dout: (B, N, E)"""
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
    """Return the gradients of <dout, out> with respect to query, key and value.

    Each gradient is the sum over the heads.
    """
    _, heads, _ = forward(weights, query, key, value)
    columns = np.split(dout @ weights.output.T, len(heads), axis=-1)
    places = zip(*map(differentiated, heads, columns), strict=True)
    dquery, dkey, dvalue = (
        np.add.reduce([x @ w.T for x, w in zip(found, matrices, strict=True)])
        for found, matrices in zip(places, weights[:3], strict=True)
    )
    return dquery, dkey, dvalue


def outer(x: Array, dy: Array) -> Array:
    """Return the gradient of <dy, x W> with respect to W.   (B, L, E), (B, L, C) to (E, C)"""
    return (x.swapaxes(-1, -2) @ dy).sum(axis=0)


def step(weights: Weights, gradients: Weights, rate: float) -> Weights:
    """Take one step of gradient descent: W - rate dW for every matrix."""

    def moved(matrices: list[Array], derivatives: list[Array]) -> list[Array]:
        return [w - rate * dw for w, dw in zip(matrices, derivatives, strict=True)]

    return Weights(
        query=moved(weights.query, gradients.query),
        key=moved(weights.key, gradients.key),
        value=moved(weights.value, gradients.value),
        output=weights.output - rate * gradients.output,
    )


def attend(query: Array, key: Array, value: Array) -> Array:
    """Return o_i = sum_j s_ij v_j, head by head, without projections.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    return np.stack([head.output for head in listed(query, key, value)], axis=1)


def backward_of_heads(
    dout: Array, query: Array, key: Array, value: Array
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> with respect to query, key and value."""
    heads = enumerate(listed(query, key, value))
    found = [differentiated(head, dout[:, h]) for h, head in heads]
    dq, dk, dv = (np.stack(gradients, axis=1) for gradients in zip(*found, strict=True))
    return dq, dk, dv


def weights_of_heads(query: Array, key: Array, value: Array) -> Array:
    """Return the weights s_ij, head by head.   (B, H, N, M)"""
    return np.stack([head.s for head in listed(query, key, value)], axis=1)


def listed(query: Array, key: Array, value: Array) -> list[Head]:
    """Return the heads of 4-D arrays as a list."""
    return [attended(query[:, h], key[:, h], value[:, h]) for h in range(query.shape[1])]


vars(attend).update(backward=backward_of_heads, weights=weights_of_heads)
