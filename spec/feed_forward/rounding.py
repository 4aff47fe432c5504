"""The rounding errors of a right feed-forward network.

The arithmetic is that of `spec.attention.rounding.arithmetic`: which grade stores what. Two linear
maps are chained, and `spec.attention.rounding.chained` says what a sum makes of inexact numbers.

The gate. z is within B_z, so max(0, z) is within B_h = min(B_z, max(0, z + B_z)): it is
no further from max(0, z) than z^ is from z, and exactly 0 where z^ cannot be positive.
Its derivative is settled only where |z| > B_z. Elsewhere a right implementation may have
found either side of 0, and any subgradient between 0 and 1 is allowed:

    B_dz = B_dh              where z > B_z      (dh = dy W2^T, and B_dh as chained)
           0                 where z < -B_z
           |dh| + B_dh       between, z = 0 among it; F19 alone asks what happens there

Lemma (exact sums). If every term of a sum is an integer multiple of g, a power of two,
normal and the sizes add up to no more than 2^p g, then every partial sum is an integer
multiple of g of at most p bits: nothing is rounded, in whatever order. There B_z = 0, so that on
the lattice every gate is settled, but for z = 0.

The reference rounds too. It is a right implementation of unit roundoff u_ref, so
|y^ - reference| <= B(u) + B(u_ref) <= B(u + u_ref), as every bound is zero at u = 0 and
convex in u; a gate is settled for both where |z| > B_z(u + u_ref). So u stands for the
sum of the two below.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from spec.attention.rounding import arithmetic, chained
from spec.feed_forward import definition
from spec.feed_forward.definition import rows
from spec.feed_forward.notation import Gradients, Problem
from spec.notation import Array, once


class Bounds:
    """The bounds of one problem, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rules = arithmetic.allowed(problem)
        self.exact_problem = problem.in_reference()
        self.u = self.rules.u + arithmetic.unit_of_reference(problem.dtype == "float64")

    # The values

    @once
    def z(self) -> Array:
        """The inputs of the units.   (B, N, F)"""
        return definition.received(self.exact_problem).astype(np.float64)

    @once
    def h(self) -> Array:
        """The outputs of the units.   (B, N, F)"""
        return np.maximum(self.z, 0)

    @once
    def y(self) -> Array:
        """The output.   (B, N, E)"""
        return definition.feed_forward(self.exact_problem)

    @once
    def gradients(self) -> Gradients:
        """The gradients themselves."""
        return definition.gradients(self.exact_problem)

    @once
    def dh(self) -> Array:
        """dy W2^T.   (B, N, F)"""
        return self.problem.dy @ self.problem.W2.T

    def product(self, left: Array, right: Array, total: Array, **inexact: Any) -> Array:
        """The error of left @ right, and what is added, whose exact value is `total`."""
        return chained.product(left, right, total, self.rules, self.u, **inexact)

    # What the units receive and hold

    @once
    def of_z(self) -> Array:
        """B_z.   (B, N, F)"""
        p = self.problem
        return np.where(self.exact, 0.0, self.product(p.x, p.W1, self.z, added=p.b1))

    @once
    def exact(self) -> Array:
        """Where z is exact by the lemma on exact sums.   (B, N, F)"""
        p, r = self.problem, self.rules
        size = np.abs(p.x) @ np.abs(p.W1) + np.abs(p.b1)
        of_products = granule(p.x).min(axis=-1)[..., None] + granule(p.W1).min(axis=0)
        g = np.minimum(of_products, granule(p.b1))
        held = r.stored if r.u_each else r.unit
        bits = held.p - 1  # one for the rounding of `size`
        fits = (size <= np.exp2(np.minimum(g + bits, 1000))) & (g >= held.lowest)
        return (size == 0) | (fits & (r.u_factor == 0))

    @once
    def of_h(self) -> Array:
        """B_h.   (B, N, F)"""
        return np.clip(self.z + self.of_z, 0.0, self.of_z)

    @once
    def settled(self) -> Array:
        """Where the gate is the same for every right implementation.   (B, N, F)"""
        return np.abs(self.z) > self.of_z

    # The results

    @once
    def output(self) -> Array:
        """B_y.   (B, N, E)"""
        p = self.problem
        B_h = chained.entering(self.of_h, self.h, self.rules)
        error = self.product(self.h, p.W2, self.y, B_left=B_h, added=p.b2)
        return chained.stored(error, self.y, self.rules)

    @once
    def dz(self) -> Array:
        """The derivative by z.   (B, N, F)"""
        return np.where(self.z > 0, self.dh, 0.0)

    @once
    def of_dz(self) -> Array:
        """B_dz, as dz enters a product.   (B, N, F)"""
        B_dh = self.product(self.problem.dy, self.problem.W2.T, self.dh)
        B_dh = B_dh + self.rules.u_each * (np.abs(self.dh) + B_dh) + self.rules.w_each
        open_or_shut = np.where(self.z > 0, B_dh, 0.0)
        error = np.where(self.settled, open_or_shut, np.abs(self.dh) + B_dh)
        return np.where(error > 0, chained.entering(error, self.dz, self.rules), 0.0)

    @once
    def of_gradients(self) -> Gradients:
        """The budgets of all five."""
        p, exact = self.problem, self.gradients
        ones = np.ones((1, p.B * p.N))
        x, h, dy, dz = rows(p.x), rows(self.h), rows(p.dy), rows(self.dz)
        B_dz, B_h = rows(self.of_dz), rows(chained.entering(self.of_h, self.h, self.rules))
        found = Gradients(
            x=self.product(self.dz, p.W1.T, exact.x, B_left=self.of_dz),
            W1=self.product(x.T, dz, exact.W1, B_right=B_dz),
            b1=self.product(ones, dz, exact.b1[None], B_right=B_dz)[0],
            W2=self.product(h.T, dy, exact.W2, B_left=B_h.T),
            b2=self.product(ones, dy, exact.b2[None])[0],
        )
        pairs = zip(found, exact, strict=True)
        return Gradients(*(chained.stored(*pair, self.rules) for pair in pairs))


def granule(x: Array) -> Array:
    """The exponent of the largest power of two of which each entry is a multiple; inf for 0."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest_bit = (whole & -whole).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.where(whole == 0, np.inf, exponent - 53 + np.log2(lowest_bit))


@lru_cache(maxsize=8)  # a problem is hashed by identity, and never changes
def bounds(problem: Problem) -> Bounds:
    """All that is known of the rounding errors of `problem`; kept for the last few problems."""
    return Bounds(problem)


def of_output(problem: Problem) -> Array:
    """The budget of y as it is stored in the dtype.   (B, N, E)"""
    return bounds(problem).output


def of_gradients(problem: Problem) -> Gradients:
    """The budgets of the gradients as they are stored in the dtype."""
    return bounds(problem).of_gradients
