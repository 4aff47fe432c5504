"""Bounds on random results that hold for any number of draws, and how often they fail.

Whether a weight is dropped is decided by chance, so no answer is impossible, and a test can
only be wrong rarely. How rarely is a number that is chosen here, and not a habit:

    ALARM = 2^-50          the chance that one comparison accuses a right implementation
    MOST  = 10^6           comparisons in the largest certificate that can be asked for
    MOST ALARM < 10^-9     so also the chance of any false alarm in it (union bound)

A comparison of many numbers at once divides ALARM by how many they are. Nothing here is a
limit theorem: "normal after 30 draws" is off by factors, if not by powers, so far out.
Pseudo-random numbers are taken for random ones.

Shares. Of n independent trials of probability q, let X succeed. For t >= q

    P(X / n >= t) <= exp(-n KL(t, q)),   KL(t, q) = t log(t / q) + (1 - t) log((1 - t) / (1 - q))

and the same for X / n <= t <= q (Hoeffding 1963, theorem 1, in Chernoff's form: the
exponential moment of one trial, raised to the power n, at its best exponent). So except
with chance `level` the share lies where n KL(t, q) <= log(2 / level).

Sums. Let X_1 ... X_n be independent, X_k within [a_k, b_k] and no further than R from its
mean, V the sum of the variances, L = log(2 / level). Except with chance `level`, the sum
is within either of these of its mean, and so within the smaller, as both are known before:

    sqrt(L sum (b_k - a_k)^2 / 2)               Hoeffding 1963, theorem 2
    R L / 3 + sqrt((R L / 3)^2 + 2 V L)         Bernstein: t where t^2 = 2 L (V + R t / 3)

The rate. Random numbers have finitely many digits, and the rate may be a float32; an
implementation that drops with a probability within RESOLUTION of p drops with p. Every bound
holds for each such probability: shares are bounded from the nearest of them, and means,
ranges and variances are granted what RESOLUTION can do to them.

Dependence. The trials of one comparison are independent, as no random number is in two of
them: disjoint pairs of places, other seeds, other rows. Comparisons may depend on each
other as they like, for a union bound does not care, and masks are looked at many times.
The bounds hold for each problem, so also for problems that are drawn from another source.

Deviations that are sure to be seen (with a chance of 1 - ALARM). With 2^15 weights a rate
that is off by 0.05; with 2^14 pairs a correlation of two masks of 0.14 at p = 1/2, and of 0.35 at
p = 0.1; masks that are shared have correlation 1.
"""

from collections.abc import Callable
from math import log

import numpy as np

from spec.notation import Array

ALARM = 2.0**-50
MOST = 10**6
RESOLUTION = 2.0**-20
HALVINGS = 60  # of an interval, after which its ends are neighbouring floats


def divergence(t: float, q: float) -> float:
    """KL(t, q) = t log(t / q) + (1 - t) log((1 - t) / (1 - q)), with 0 log 0 = 0."""
    first = t * log(t / q) if t > 0 else 0.0
    second = (1 - t) * log((1 - t) / (1 - q)) if t < 1 else 0.0
    return first + second


def share(n: int, q: float, level: float = ALARM) -> tuple[float, float]:
    """Where the share of n independent trials of probability q lies, but for chance `level`.

    q: strictly between 0 and 1, and known to RESOLUTION.
    """
    if n == 0:
        return 0.0, 1.0
    least, most = max(q - RESOLUTION, q / 2), min(q + RESOLUTION, (1 + q) / 2)
    reach = log(2 / level) / n
    low = _last(0.0, least, lambda t: divergence(t, least) >= reach)
    high = _last(1.0, most, lambda t: divergence(t, most) >= reach)
    return low, high


def _last(end: float, start: float, beyond: Callable[[float], bool]) -> float:
    """The last number on the way from `end` to `start` that is `beyond`; `end` if none is."""
    outside, inside = end, start
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        outside, inside = (middle, inside) if beyond(middle) else (outside, middle)
    return outside


def of_sum(ranges: Array, furthest: Array, variance: Array, level: float) -> Array:
    """How far a sum of independent numbers is from its mean, but for chance `level`.

    ranges: sum of (b_k - a_k)^2. furthest: R. variance: V. All of one shape.
    """
    L = log(2 / level)
    third = furthest * L / 3
    bernstein = third + np.sqrt(third**2 + 2 * variance * L)
    return np.minimum(np.sqrt(L * ranges / 2), bernstein)


def of_mean(terms: Array, p: float, calls: int) -> Array:
    """How far sum_j m_j c_j, averaged over calls, is from its mean, at level ALARM for all.

    terms: c_j along the last axis; m_j is 1 with probability 1 - p, else 0.
    """
    squares, size = (terms**2).sum(axis=-1), np.abs(terms)
    furthest = (max(p, 1 - p) + RESOLUTION) * size.max(axis=-1)
    s = p * (1 - p) + RESOLUTION  # its derivative by p is at most 1
    off = of_sum(calls * squares, furthest, calls * s * squares, ALARM / max(squares.size, 1))
    return off / calls + RESOLUTION * size.sum(axis=-1)


def of_squares(terms: Array, p: float, calls: int) -> tuple[float, float]:
    """The mean of the squared deviations of all rows and calls, and how far it may be off.

    terms: c_j along the last axis. One row deviates by x = sum_j (m_j - (1 - p)) c_j. With
    s = p (1 - p), x^2 has the mean s sum c^2 = v, is at most r^2 = (max(p, 1 - p) sum |c|)^2,
    and has the variance 2 v^2 + s (1 - 6 s) sum c^4, as fourth cumulants add.

    A rate that is off by d <= RESOLUTION moves that mean by at most d sum c^2 + d^2 (sum |c|)^2,
    which is within 5 d r^2, as sum |c| <= 2 r. It turns M d of the probability elsewhere at most,
    so E x^4 moves by M d r^4, the square of the mean by 2 M d r^4, the variance by 3 M d r^4.
    """
    s = p * (1 - p)
    v = s * (terms**2).sum(axis=-1)
    r2 = (max(p, 1 - p) * np.abs(terms).sum(axis=-1)) ** 2
    fourth = 2 * v**2 + s * (1 - 6 * s) * (terms**4).sum(axis=-1)
    fourth = fourth + 3 * terms.shape[-1] * RESOLUTION * r2**2
    n = calls * v.size
    off = of_sum(calls * (r2**2).sum(), r2.max(), calls * fourth.sum(), ALARM)
    return float(v.mean()), float(off / n + 5 * RESOLUTION * r2.mean())
