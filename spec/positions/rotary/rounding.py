"""How far a right rotation may stray.

With c, s the cosine and sine of a pair, b_c and b_s their budgets (`angles`), and the grades
of `spec.attention.rounding.arithmetic`,

    y_0 = x_0 c - x_1 s    strays by    |x_0| b_c + |x_1| b_s
                                        a sum of two products, in any order (Lemma 1)
                                        `flash`: c and s stored;  `eager`: the products too
                                        one rounding to the dtype

and y_1 likewise. At a far position b_c and b_s are the error of the angle, and it may be
large. But one angle turns both columns, so *lengths* know nothing of it: for the
angle that was computed, |x_0 c'| + |x_1 s'| <= |x|, each of y_0 and y_1 strays by at most

    E = |x| (C_TRIG u + 2 u, and what grades add)    so | |y| - |x| | <= sqrt(2) E

and a few units are the whole budget of a length, at any position.
"""

import numpy as np

from spec.attention.rounding.arithmetic import C_DIV, C_EXP, Arithmetic, allowed
from spec.attention.rounding.sums import growth, of_any_order
from spec.formats import FORMATS
from spec.notation import Array
from spec.positions.angles import C_TRIG, angles, of_angles, of_cosines, slack
from spec.positions.pairing import woven
from spec.positions.rotary.notation import Problem


def of_rotation(problem: Problem) -> Array:
    """The budget of R(p) q.   (B, H, N, D)"""
    return _of_turn(problem, problem.q, 1.0)


def of_backward(problem: Problem) -> Array:
    """The budget of dq = R(-p) dout.   (B, H, N, D)"""
    return _of_turn(problem, problem.dout, -1.0)


def _of_turn(problem: Problem, x: Array, sign: float) -> Array:
    rules, r, places = allowed(problem), problem.width, problem.positions[:, None]
    budget = np.zeros(x.shape)
    exact = np.zeros(x[..., :r].shape)
    turn = of_turn(x[..., :r], exact, places, problem.base, sign, rules, problem.dtype)
    budget[..., :r] = turn
    return budget


def of_turn(
    x: Array, wrong: Array, places: Array, base: float, sign: float, rules: Arithmetic, dtype: str
) -> Array:
    """The budget of R(sign p) x at places p, where x may be off by `wrong`.   (..., N, D)"""
    r = x.shape[-1]
    by, off = angles(places, r, base), of_angles(places, r, base, rules.u)
    c, s = np.cos(by), sign * np.sin(by)
    off_c, off_s = of_cosines(by, off, rules.u)
    off_c = off_c + rules.u_cast * (np.abs(c) + off_c) + rules.w_cast
    off_s = off_s + rules.u_cast * (np.abs(s) + off_s) + rules.w_cast
    even, odd = ((x[..., i::2].astype(float), wrong[..., i::2]) for i in (0, 1))
    first = _of_sum(rules, (*even, c, off_c), (*odd, -s, off_s))
    second = _of_sum(rules, (*even, s, off_s), (*odd, c, off_c))
    return slack(dtype, rules.u) * woven(first, second)


Product = tuple[Array, Array, Array, Array]  # a number, its budget, a factor, its budget


def _of_sum(rules: Arithmetic, one: Product, two: Product) -> Array:
    """The budget of x c + y s, for numbers and factors with budgets."""
    (x, off_x, c, off_c), (y, off_y, s, off_s) = one, two
    moved = np.abs(x) * off_c + np.abs(y) * off_s
    moved = moved + off_x * (np.abs(c) + off_c) + off_y * (np.abs(s) + off_s)
    size, total = np.abs(x * c) + np.abs(y * s) + moved, np.abs(x * c + y * s) + moved
    off = moved + of_any_order(size, total, 2, u=rules.u, w=rules.w, count=2)
    off = off + rules.u_each * size + 2 * (rules.w_each + rules.flush)
    return off + rules.u_out * (total + off) + rules.w_out


def of_length(problem: Problem, x: Array) -> Array:
    """The budget of the length of every pair of x once it is turned.   (B, H, N, pairs)"""
    rules = allowed(problem)
    length = lengths(x, problem.width).astype(float)
    each = growth(16, rules.u) * (C_TRIG * rules.u + 2 * rules.u) + rules.u_cast + rules.u_each
    tiny = 4 * rules.w + 2 * (rules.w_each + rules.w_cast * length + rules.flush) + rules.w_out
    off = np.sqrt(2) * ((each + rules.u_cast * rules.u_each) * length + tiny)
    off = off + rules.u_out * (length + off)
    return slack(problem.dtype, rules.u) * off


def lengths(x: Array, width: int) -> Array:
    """The length of every pair of the columns that are turned.   (..., pairs)"""
    even, odd = x[..., 0:width:2], x[..., 1:width:2]
    return np.sqrt(even * even + odd * odd)


def turned(budget: Array, width: int) -> Array:
    """The error bounds of a pair after a turn by any angle: at most their sum."""
    pairs = np.repeat(budget[..., 0:width:2] + budget[..., 1:width:2], 2, axis=-1)
    return np.concatenate([pairs, budget[..., width:]], axis=-1)


def of_scores(q: Array, k: Array, off_q: Array, off_k: Array) -> Array:
    """The budget of <q_i, k_j> for placed queries and keys with budgets.   (B, H, N, N)

    The last term is what the product itself rounds, in the arithmetic of the clause.
    """
    size_q, size_k = np.abs(q).astype(float), np.abs(k).astype(float)
    own = float(np.finfo(q.dtype).eps) * q.shape[-1]
    return (
        size_q @ off_k.swapaxes(-1, -2)
        + off_q @ size_k.swapaxes(-1, -2)
        + off_q @ off_k.swapaxes(-1, -2)
        + own * (size_q @ size_k.swapaxes(-1, -2))
    )


def of_output(weights: Array, v: Array, moved: Array) -> Array:
    """The budget of attention whose scores are within `moved`, scaled.   (B, H, N, D)

    A weight is a_j exp(e_j) / sum_k a_k exp(e_k), within exp(2 e) of a_j. Subtract o:
    |o^ - o| <= expm1(2 e) sum_j a_j |v_j - o|, and no output leaves the hull of the values.
    The softmax and the sum are those of the clause, a unit each for a key and a few more.
    """
    o = (weights @ v)[..., :, None, :]
    spread = np.abs(v[..., None, :, :] - o).astype(float)
    most = np.expm1(np.minimum(2 * moved.max(axis=-1, keepdims=True), 100.0))
    mean = np.einsum("bhij,bhijc->bhic", weights.astype(float), spread)
    own = float(np.finfo(weights.dtype).eps) * (v.shape[-2] + C_EXP + C_DIV)
    rounded = own * (weights @ np.abs(v)).astype(float)
    return np.minimum(most * mean, spread.max(axis=-2)) + rounded


def of_storing(x: Array, dtype: str) -> Array:
    """The budget of x rounded to the dtype."""
    to = FORMATS[dtype]
    return to.u * np.abs(x).astype(float) + to.w
