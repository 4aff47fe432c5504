"""Angles: what a position is turned by, and how far a computed one may stray.

Sinusoidal and rotary positions share their geometry. Pair i of the columns turns by
the angle p theta_i at position p, where

    theta_i = base^(-2i / E)    and so theta_0 = 1

(Vaswani et al. 2017, section 3.5, base 10000). In a format with unit roundoff u a
usual program takes these steps, each with its roundings:

    -2i / E                                1           of a result of size |ln theta| / ln base
    times ln base, or a power of base      1 + C_LOG   the logarithm of the base, and the product
    the exponential                        C_EXP       of its result
    a reciprocal                           C_DIV       where base^(2i / E) was taken
    p theta                                1           p is a whole number below 2^24, and exact

The first two are roundings of the exponent ln theta, which an exponential turns into
relative errors of theta. To first order, and with `growth` for what is beyond,

    |fl(p theta) - p theta| <= delta = u |p theta| (C_EXP + C_DIV + 1 + (2 + C_LOG) |ln theta|)

The error grows with the position. At position 100,000 it may reach 0.1 in float32, and in
bfloat16 the angle is any angle: hence for formats of 16 bits u is that of float32, and
angles in 16 bits are not granted.

Of cosine and sine two things are known. Whatever angle they were given, it was the same
for both, and they are within 4 ulp of its cosine and sine: C_TRIG u, relative, at any
distance from zero. And the angle was within delta of the right one, which moves them by

    |cos(a + d) - cos(a)| <= min(|sin a| delta + delta^2 / 2, delta, 2)

and the sine likewise. The second matters to a table; lengths need the first alone, and
so are known to a few units at any position.
"""

import numpy as np

from spec.attention.rounding.arithmetic import C_DIV, C_EXP, C_LOG, unit_of_reference
from spec.attention.rounding.sums import growth
from spec.notation import Array

BASE = 10000.0
C_TRIG = 8.0  # one cosine or sine: 4 ulp, as for an exponential


def frequencies(width: int, base: float, number: type[np.floating] = np.float64) -> Array:
    """theta_i = base^(-2i / width), for every pair, the last one perhaps half.   (pairs)"""
    even = np.arange(0, width, 2).astype(number)
    return np.power(number(base), -even / number(width))


def angles(
    positions: Array, width: int, base: float, number: type[np.floating] = np.float64
) -> Array:
    """p theta_i.   (..., pairs), for positions (...)"""
    return positions[..., None].astype(number) * frequencies(width, base, number)


def of_angles(positions: Array, width: int, base: float, u: float) -> Array:
    """delta, how far computed angles may be from the right ones.   (..., pairs)"""
    theta = frequencies(width, base)
    roundings = C_EXP + C_DIV + 1 + (2 + C_LOG) * np.abs(np.log(theta))
    relative = u * growth(int(roundings.max(initial=0)), u) * roundings
    return relative * theta * np.abs(positions[..., None])


def of_cosines(angle: Array, delta: Array, u: float) -> tuple[Array, Array]:
    """How far the cosine and the sine of a computed angle may be from those of `angle`."""
    cosine, sine = np.abs(np.cos(angle)), np.abs(np.sin(angle))
    most = np.minimum(delta, 2.0)
    off_cosine = np.minimum(sine * delta + delta * delta / 2, most)
    off_sine = np.minimum(cosine * delta + delta * delta / 2, most)
    trig = C_TRIG * u
    return off_cosine + trig * (cosine + off_cosine), off_sine + trig * (sine + off_sine)


def slack(dtype: str, u: float) -> float:
    """By what a budget grows, since the reference is itself a right program, of unit u_ref.

    Every term of a budget is linear in u or in w, so that of the reference is the same
    times u_ref / u, and never more than the same; as in `spec.attention.rounding.arithmetic`.
    """
    return min(2.0, 1.0 + 16 * unit_of_reference(dtype == "float64") / u)
