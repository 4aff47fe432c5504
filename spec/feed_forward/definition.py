"""The definition of the position-wise feed-forward network.

    z = x W1 + b1    h = max(0, z)    y = h W2 + b2

at every position with the same weights (Vaswani et al. 2017, section 3.3). Reverse-mode
differentiation of <dy, y> gives the gradients in closed form:

    dh  = dy W2^T              dz  = dh where z > 0, else 0
    dx  = dz W1^T              db1 = sum dz          db2 = sum dy
    dW1 = sum x^T dz           dW2 = sum h^T dy

where the sums run over all positions of all batch elements. At z = 0, where max(0, z) has no
derivative, the derivative is taken to be 0, as in the relu of torch and JAX.
"""

import numpy as np

from spec.feed_forward.notation import Gradients, Problem
from spec.notation import Array


def received(problem: Problem) -> Array:
    """The pre-activations z = x W1 + b1.   (B, N, F)"""
    return problem.x @ problem.W1 + problem.b1


def held(problem: Problem) -> Array:
    """The activations h = max(0, z).   (B, N, F)"""
    return np.maximum(received(problem), 0)


def feed_forward(problem: Problem) -> Array:
    """The output y = max(0, x W1 + b1) W2 + b2.   (B, N, E)"""
    return held(problem) @ problem.W2 + problem.b2


def rows(x: Array) -> Array:
    """All positions of all batch elements, as the rows of one matrix.   (B N, width)"""
    return x.reshape(-1, x.shape[-1])


def gradients(problem: Problem) -> Gradients:
    """The derivatives of <dy, y> with respect to every array."""
    dh = problem.dy @ problem.W2.T
    dz = np.where(received(problem) > 0, dh, 0)
    x, h, dy = rows(problem.x), rows(held(problem)), rows(problem.dy)
    return Gradients(
        x=dz @ problem.W1.T,
        W1=x.T @ rows(dz),
        b1=rows(dz).sum(axis=0),
        W2=h.T @ dy,
        b2=dy.sum(axis=0),
    )
