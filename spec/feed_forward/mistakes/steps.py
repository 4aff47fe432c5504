"""The right steps of a feed-forward network, of which every mistake replaces one."""

from typing import NamedTuple

import numpy as np

from spec.notation import Array


class Pass(NamedTuple):
    """Everything that a forward pass computed."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array
    z: Array
    h: Array
    y: Array


def arrive(x: Array) -> Array:
    """The input as it is."""
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
    """The output as it is."""
    return y


def cotangent(_: Pass, dy: Array) -> Array:
    """The derivative by the output, which the caller knows."""
    return dy


def through_gate(seen: Pass, dh: Array) -> Array:
    """dz = dh where the gate is open."""
    return np.where(seen.z > 0, dh, 0)


def inner_bias(dz: Array) -> Array:
    """db1 = sum dz."""
    return dz.sum(axis=(0, 1))


def outer_weights(seen: Pass, dy: Array) -> Array:
    """dW2 = sum h^T dy."""
    return np.einsum("bnf,bne->fe", seen.h, dy)


def outer_bias(dy: Array) -> Array:
    """db2 = sum dy."""
    return dy.sum(axis=(0, 1))
