"""S2: NumPy, one head of self-attention, all of its gradients, and a training loop.

    Q = x Wq    K = x Wk    V = x Wv    S = softmax(Q K^T / sqrt(E))    out = S V

Matrices (E, E) act on the right; x is one sequence (N, E). Backward, for a cotangent dout,

    dV = S^T dout        dT = S (g - <g, S>) / sqrt(E),  g = dout V^T
    dQ = dT K            dK = dT^T Q
    dW = x^T dQ, x^T dK, x^T dV, added to what is there until `zero_grad`
    dx = dQ Wq^T + dK Wk^T + dV Wv^T

for x is read three times, and each reading passes a gradient back.

Source S2 publishes these formulas, weights of 0.1 N(0, 1), and a loop that descends on the
sum of the output: `trace` returns the ten losses that it prints.
"""

import numpy as np

from spec.notation import Array

RATE, STEPS, EVERY = 0.01, 100, 10  # of the published loop


def softmax(x: Array) -> Array:
    """exp(x_j) / sum_j exp(x_j) along the last axis, the largest x subtracted first."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def through_softmax(s: Array, g: Array) -> Array:
    """s (g - <g, s>): the Jacobian diag(s) - s s^T of a softmax s, applied to g, row by row."""
    return s * (g - (g * s).sum(axis=-1, keepdims=True))


def weights(query: Array, key: Array, value: Array) -> Array:  # noqa: ARG001 - called like attend
    """S = softmax(q k^T / sqrt(D)).   (..., N, M)"""
    return softmax(query @ key.swapaxes(-1, -2) / root(query))


def attend(query: Array, key: Array, value: Array) -> Array:
    """S v; whatever axes come before the last two are so many single heads.

    query (..., N, D), key (..., M, D), value (..., M, E) give (..., N, E).
    """
    return weights(query, key, value) @ value


def backward(dout: Array, query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """The derivatives of <dout, S v>, shaped like query, key and value."""
    s = weights(query, key, value)
    dt = through_softmax(s, dout @ value.swapaxes(-1, -2)) / root(query)
    return dt @ key, dt.swapaxes(-1, -2) @ query, s.swapaxes(-1, -2) @ dout


def root(q: Array) -> np.floating:
    """sqrt(D), in the format of q."""
    return np.sqrt(q.dtype.type(q.shape[-1]))


class SingleHead:
    """One head of self-attention that remembers its last input and adds up its gradients."""

    def __init__(self, embed_dim: int, chance: np.random.RandomState) -> None:
        """Draws Wq, Wk and Wv in this order, 0.1 N(0, 1) each."""
        shape = embed_dim, embed_dim
        self.query, self.key, self.value = (chance.randn(*shape) * 0.1 for _ in range(3))
        self.query_gradient, self.key_gradient, self.value_gradient = np.zeros((3, *shape))
        self._x: Array | None = None

    def forward(self, x: Array) -> Array:
        """S V, and x is kept for `backward`.   (N, E) to (N, E)"""
        self._x = x
        return attend(x @ self.query, x @ self.key, x @ self.value)

    def backward(self, dout: Array) -> Array:
        """dx, the sum of three paths; the gradients of the matrices are added to.   (N, E)

        Raises RuntimeError: there was no forward pass.
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
        """Begin to add up the gradients of the matrices anew."""
        for gradient in (self.query_gradient, self.key_gradient, self.value_gradient):
            gradient.fill(0)

    def step(self, rate: float) -> None:
        """One step of gradient descent: W - rate dW for each matrix."""
        self.query -= rate * self.query_gradient
        self.key -= rate * self.key_gradient
        self.value -= rate * self.value_gradient


def trace(seed: int = 0, N: int = 4, E: int = 8) -> list[float]:
    """The losses that the published loop prints: the sum of the output at every tenth step.

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
