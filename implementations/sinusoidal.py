"""Sinusoidal positional encoding in NumPy, with complex numbers.

exp(i a) = cos a + i sin a. So the imaginary and the real parts of a row of complex numbers
alternate in a row of the table (Vaswani et al. 2017, section 3.5).
"""

from typing import Any

import numpy as np

from spec.notation import Array

BASE = 10000.0


def encode(x: Array, first: int = 0) -> Array:
    """Return x_n + PE[first + n], for x (B, N, E)."""
    rows = hands(first, x.shape[1], x.shape[2], np.result_type(x.dtype, np.float32))
    return (x + rows).astype(x.dtype)


def table(length: int, width: int, first: int = 0, dtype: Any = np.float64) -> Array:
    """Return PE[first], ..., PE[first + length - 1].   (length, width)"""
    return hands(first, length, width, np.result_type(dtype, np.float32)).astype(dtype)


def backward(dout: Array, x: Array, first: int = 0) -> Array:  # noqa: ARG001 - needs only dout
    """Return the gradient of <dout, encode(x)> with respect to x."""
    return dout.copy()


def hands(first: int, length: int, width: int, number: np.dtype[Any]) -> Array:
    """Return sin and cos of p theta_i alternating, with sine last if odd.   (length, width)"""
    exponent = np.arange(0, width, 2, dtype=number) / number.type(width)
    theta = number.type(BASE) ** -exponent
    angle = np.arange(first, first + length, dtype=number)[:, None] * theta
    hand = np.exp(1j * angle)
    parts = np.stack([hand.imag, hand.real], axis=-1)
    return parts.reshape(length, -1)[:, :width].astype(number)


vars(encode).update(table=table, backward=backward)
