"""The position-wise feed-forward network in NumPy, in blocks of units.

    y = b2 + sum_f max(0, <x, W1[:, f]> + b1[f]) W2[f]

(Vaswani et al. 2017, section 3.3). The hidden activations, F numbers for every position, are
computed in blocks of units and never stored as a whole. The backward pass computes them again,
block by block.
"""

from collections.abc import Iterator

import numpy as np

from implementations.arguments import accumulator, rounded
from spec.notation import Array

UNITS = 64  # in a block


def feed_forward(x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
    """Return max(0, x W1 + b1) W2 + b2.   x (B, N, E), W1 (E, F), W2 (F, E) give (B, N, E)"""
    rows, *weights = opened(x, W1, b1, W2)
    y = np.zeros_like(rows)
    for _, W1, b1, W2 in blocks(*weights):
        y += np.maximum(rows @ W1 + b1, 0) @ W2
    return rounded((y + b2).reshape(x.shape), x.dtype)


def backward(
    dy: Array, x: Array, W1: Array, b1: Array, W2: Array, b2: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Return dx, dW1, db1, dW2, db2 of <dy, y>."""
    rows, *weights = opened(x, W1, b1, W2)
    d_rows = dy.reshape(rows.shape).astype(rows.dtype)
    dx, dW1, db1, dW2 = (np.zeros_like(a) for a in (rows, *weights))
    for units, W1, b1, W2 in blocks(*weights):
        h = np.maximum(rows @ W1 + b1, 0)
        dz = (d_rows @ W2.T) * (h > 0)
        dx += dz @ W1.T
        dW1[:, units], db1[units], dW2[units] = rows.T @ dz, dz.sum(axis=0), h.T @ d_rows
    found = (dx.reshape(x.shape), dW1, db1, dW2, d_rows.sum(axis=0))
    dx, dW1, db1, dW2, db2 = (rounded(d, x.dtype) for d in found)
    return dx, dW1, db1, dW2, db2.reshape(b2.shape)


def opened(x: Array, *arrays: Array) -> list[Array]:
    """Return the positions of all batch elements as rows, and weights, in the accumulator dtype."""
    work = accumulator(x.dtype)
    return [x.reshape(-1, x.shape[-1]).astype(work), *(a.astype(work) for a in arrays)]


def blocks(W1: Array, b1: Array, W2: Array) -> Iterator[tuple[slice, Array, Array, Array]]:
    """Yield blocks of units: their range, their columns of W1 and b1, and their rows of W2."""
    for first in range(0, len(b1), UNITS):
        units = slice(first, first + UNITS)
        yield units, W1[:, units], b1[units], W2[units]


vars(feed_forward).update(backward=backward)
