"""The definition of rotary positions (Su et al. 2021, section 3).

Pair i of the columns of a query or key at position p is rotated by the angle p theta_i:

    R(p) (x_2i, x_2i+1) = (x_2i cos a - x_2i+1 sin a, x_2i sin a + x_2i+1 cos a)    a = p theta_i
    theta_i = base^(-2i / r)

Here r is the number of rotated columns, usually all of them. The other columns and the
values are not changed. R(p) is orthogonal, so the derivative of <dout, R(p) q> by q is
R(p)^T dout = R(-p) dout. Scores depend on positions only through their difference:

    <R(p) q, R(j) k> = sum_i cos((p - j) theta_i) (q_2i k_2i + q_2i+1 k_2i+1)
                           + sin((p - j) theta_i) (q_2i k_2i+1 - q_2i+1 k_2i)
"""

import numpy as np

from spec.notation import Array
from spec.positions.angles import angles
from spec.positions.pairing import woven
from spec.positions.rotary.notation import Problem


def angle(problem: Problem) -> Array:
    """p theta_i.   (B, 1, N, pairs)"""
    number = problem.q.dtype.type
    return angles(problem.positions, problem.width, problem.base, number)[:, None]


def turned(x: Array, by: Array) -> Array:
    """R(by) x, pair by pair; columns beyond the last angle are not changed.   (..., D)"""
    r = 2 * by.shape[-1]
    even, odd = x[..., 0:r:2], x[..., 1:r:2]
    c, s = np.cos(by), np.sin(by)
    return np.concatenate([woven(even * c - odd * s, even * s + odd * c), x[..., r:]], axis=-1)


def rotate(problem: Problem) -> Array:
    """R(p) q.   (B, H, N, D)"""
    return turned(problem.q, angle(problem))


def place(problem: Problem) -> tuple[Array, Array, Array]:
    """R(p) q, R(p) k and v.   three of (B, H, N, D)"""
    return rotate(problem), rotate(problem.but(q=problem.k)), problem.v


def backward(problem: Problem) -> Array:
    """dq = R(-p) dout.   (B, H, N, D)"""
    return turned(problem.dout, -angle(problem))


def scores(problem: Problem) -> Array:
    """<R(p_i) q_i, R(p_j) k_j>, computed from the differences p_i - p_j alone.   (B, H, N, N)"""
    r, p = problem.width, problem.positions
    apart = angles(p[:, :, None] - p[:, None, :], r, problem.base, problem.q.dtype.type)
    q0, q1 = problem.q[..., 0:r:2], problem.q[..., 1:r:2]
    k0, k1 = problem.k[..., 0:r:2], problem.k[..., 1:r:2]
    c, s = np.cos(apart), np.sin(apart)
    along = np.einsum("bijc,bhic,bhjc->bhij", c, q0, k0) + np.einsum(
        "bijc,bhic,bhjc->bhij", c, q1, k1
    )
    across = np.einsum("bijc,bhic,bhjc->bhij", s, q0, k1) - np.einsum(
        "bijc,bhic,bhjc->bhij", s, q1, k0
    )
    return along + across + problem.q[..., r:] @ problem.k[..., r:].swapaxes(-1, -2)
