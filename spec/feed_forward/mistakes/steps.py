"""The correct steps of a feed-forward network. A known bug replaces one of them."""

from typing import NamedTuple

import numpy as np

from spec.notation import Array


class Pass(NamedTuple):
    """The results of a forward pass, and its inputs."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array
    z: Array
    h: Array
    y: Array


def arrive(x: Array) -> Array:
    """The input, unchanged."""
    return x


def receive(x: Array, W1: Array, b1: Array) -> Array:
    """z = x W1 + b1."""
    return x @ W1 + b1


def gate(z: Array) -> Array:
    """h = max(0, z)."""
    return np.maximum(z, 0)


def send(h: Array, W2: Array, b2: Array) -> Array:
    """y = h W2 + b2."""
    return h @ W2 + b2


def finish(y: Array) -> Array:
    """The output, unchanged."""
    return y


def cotangent(_: Pass, dy: Array) -> Array:
    """The gradient with respect to the output, as the caller passes it."""
    return dy


def through_gate(seen: Pass, dh: Array) -> Array:
    """dz = dh where z > 0, else 0."""
    return np.where(seen.z > 0, dh, 0)


def inner_bias(dz: Array) -> Array:
    """db1 = sum dz, over all positions of all batch elements."""
    return dz.sum(axis=(0, 1))


def outer_weights(seen: Pass, dy: Array) -> Array:
    """dW2 = sum h^T dy, over all positions of all batch elements."""
    return np.einsum("bnf,bne->fe", seen.h, dy)


def outer_bias(dy: Array) -> Array:
    """db2 = sum dy, over all positions of all batch elements."""
    return dy.sum(axis=(0, 1))
