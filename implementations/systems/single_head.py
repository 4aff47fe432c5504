"""The single-head system: NumPy, one head of self-attention, all gradients, a training loop.

    Q = x Wq    K = x Wk    V = x Wv    S = softmax(Q K^T / sqrt(E))    out = S V

Matrices (E, E) act on the right; x is one sequence (N, E). Backward, for a cotangent dout,

    dV = S^T dout        dT = S (g - <g, S>) / sqrt(E),  g = dout V^T
    dQ = dT K            dK = dT^T Q
    dW = x^T dQ, x^T dK, x^T dV, accumulated until `zero_grad`
    dx = dQ Wq^T + dK Wk^T + dV Wv^T

dx has three terms because the forward pass reads x three times.

The source publishes these formulas, weights of 0.1 N(0, 1), and a loop of gradient descent on
the sum of the output. `trace` returns the ten losses that this loop prints.
"""

import numpy as np

from spec.notation import Array

RATE, STEPS, EVERY = 0.01, 100, 10  # of the published loop


def softmax(x: Array) -> Array:
    """Return exp(x_j) / sum_j exp(x_j) along the last axis, after subtracting the largest x."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def through_softmax(s: Array, g: Array) -> Array:
    """Return s (g - <g, s>) by row: the Jacobian diag(s) - s s^T of a softmax s, applied to g."""
    return s * (g - (g * s).sum(axis=-1, keepdims=True))


def weights(query: Array, key: Array, value: Array) -> Array:  # noqa: ARG001 - called like attend
    """Return S = softmax(q k^T / sqrt(D)).   (..., N, M)"""
    return softmax(query @ key.swapaxes(-1, -2) / root(query))


def attend(query: Array, key: Array, value: Array) -> Array:
    """Return S v. The axes before the last two count separate heads.

    query (..., N, D), key (..., M, D), value (..., M, E) give (..., N, E).
    """
    return weights(query, key, value) @ value


def backward(dout: Array, query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, S v> with respect to query, key and value."""
    s = weights(query, key, value)
    dt = through_softmax(s, dout @ value.swapaxes(-1, -2)) / root(query)
    return dt @ key, dt.swapaxes(-1, -2) @ query, s.swapaxes(-1, -2) @ dout


def root(q: Array) -> np.floating:
    """Return sqrt(D), in the dtype of q."""
    return np.sqrt(q.dtype.type(q.shape[-1]))


class SingleHead:
    """One head of self-attention that keeps its last input and accumulates its gradients."""

    def __init__(self, embed_dim: int, chance: np.random.RandomState) -> None:
        """Draw Wq, Wk and Wv in this order, each from 0.1 N(0, 1)."""
        shape = embed_dim, embed_dim
        self.query, self.key, self.value = (chance.randn(*shape) * 0.1 for _ in range(3))
        self.query_gradient, self.key_gradient, self.value_gradient = np.zeros((3, *shape))
        self._x: Array | None = None

    def forward(self, x: Array) -> Array:
        """Return S V, and keep x for `backward`.   (N, E) to (N, E)"""
        self._x = x
        return attend(x @ self.query, x @ self.key, x @ self.value)

    def backward(self, dout: Array) -> Array:
        """Return dx (N, E), the sum of three paths, and accumulate the gradients of the matrices.

        Raises RuntimeError if there was no forward pass.
        """
        if self._x is None:
            raise RuntimeError("there was no forward pass to differentiate")
        x = self._x
        dq, dk, dv = backward(dout, x @ self.query, x @ self.key, x @ self.value)
        self.query_gradient += x.T @ dq
        self.key_gradient += x.T @ dk
        self.value_gradient += x.T @ dv
        return dq @ self.query.T + dk @ self.key.T + dv @ self.value.T

    def zero_grad(self) -> None:
        """Set the accumulated gradients of the matrices to zero."""
        for gradient in (self.query_gradient, self.key_gradient, self.value_gradient):
            gradient.fill(0)

    def step(self, rate: float) -> None:
        """Take one step of gradient descent: W - rate dW for each matrix."""
        self.query -= rate * self.query_gradient
        self.key -= rate * self.key_gradient
        self.value -= rate * self.value_gradient


def trace(seed: int = 0, N: int = 4, E: int = 8) -> list[float]:
    """Return the losses that the published loop prints: the sum of the output at every tenth step.

    The input is drawn first, then the matrices, from the stream of `np.random.seed(seed)`.
    """
    chance = np.random.RandomState(seed)
    x = chance.randn(N, E)
    head, losses = SingleHead(E, chance), []
    for step in range(STEPS):
        out = head.forward(x)
        if step % EVERY == 0:
            losses.append(float(out.sum()))
        head.zero_grad()
        head.backward(np.ones_like(out))
        head.step(RATE)
    return losses


vars(attend).update(backward=backward, weights=weights)
