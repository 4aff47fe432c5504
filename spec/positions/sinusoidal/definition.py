"""The definition of sinusoidal positions (Vaswani et al. 2017, section 3.5).

    PE[p, 2i]     = sin(p theta_i)
    PE[p, 2i + 1] = cos(p theta_i)      theta_i = 10000^(-2i / E)
    y_n           = x_n + PE[first + n]

An odd width ends with the sine of the last frequency, whose cosine is omitted. The added
rows do not depend on x, so the derivative of <dout, y> by x is dout.
"""

import numpy as np

from spec.notation import Array
from spec.positions.angles import BASE, angles
from spec.positions.pairing import woven
from spec.positions.sinusoidal.notation import Problem


def waves(angle: Array, width: int) -> Array:
    """The sine and cosine of each angle, interleaved and cut to the width.   (..., width)"""
    return woven(np.sin(angle), np.cos(angle))[..., :width]


def table(problem: Problem) -> Array:
    """PE[first], PE[first + 1], ...   (N, E)"""
    return waves(angles(problem.positions, problem.E, BASE, problem.x.dtype.type), problem.E)


def add(problem: Problem) -> Array:
    """y_n = x_n + PE[first + n].   (B, N, E)"""
    return problem.x + table(problem)


def backward(problem: Problem) -> Array:
    """dx = dout.   (B, N, E)"""
    return problem.dout


def turned(rows: Array, angle: Array) -> Array:
    """R(angle) on every pair (sin a, cos a) of a row: (sin(a + angle), cos(a + angle))."""
    sine, cosine = rows[..., 0::2], rows[..., 1::2]
    c, s = np.cos(angle), np.sin(angle)
    return woven(c * sine + s * cosine, c * cosine - s * sine)


def likeness(distance: Array, width: int) -> Array:
    """<PE(p), PE(q)> = sum_i cos((p - q) theta_i), for an even width.   (...)"""
    number = np.longdouble
    return np.cos(angles(distance, width, BASE, number)).sum(axis=-1)
