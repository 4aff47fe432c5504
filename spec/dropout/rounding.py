"""The rounding errors of attention with dropout, given which weights were kept.

With f = 1 / (1 - p), B_a the budget of the weights without dropout, and B_again that of
weights which a backward pass computes again, as exp(s - lse),

    B_w   = f (1 + e) B_a + e w             e = u (C_KEEP + p / (1 - p))
    B_o   = chained(w, v; B_w)
    B_G   = chained(dout, v^T)              G = dout v^T
    B_da  = f [(1 + e) B_G + e |G|]         da = m f G
    delta : the larger of  sum a B_da + B_a (|da| + B_da) and Lemma 1, from the weights,
            and  sum |dout| B_o and Lemma 1, from the output
    B_Z   = B_da + B_delta + u (2 (|da| + |delta|) + (M - 1) / 2 (|da| + |Z|))     Z = da - delta
    B_dx  = B_again |Z| + (a + B_again) B_Z + C_DS u |ds|
    B_ds  = B_dx + top [ sum_j B_dx + sum(|ds| + B_dx, 0) ]
    B_dq  = |scale| chained(ds, k; B_ds) and C_INTO + C_SCALE roundings;    dk likewise
    B_dv  = chained(w^T, dout; B_w with B_again for B_a)

where weights that were dropped are exactly 0, in w, da and everywhere. `chained` is the
lemma of `spec.attention.rounding.chained`. C_KEEP = 4 counts 1 - p, its reciprocal (2) and the
product with it; p itself may be rounded, which 1 - p magnifies by p / (1 - p). The last
term of B_Z is for who applies the Jacobian of softmax as a matrix, da less a sum of M
products: sizes add up to |da| + sum a |da|, and the result is Z; what Lemma 1 says of that
sum is half of it here, and the other half is in B_delta.

A maximum that is differentiated gets -sum_j dx_j, which should be zero, and hands it on to
keys that attain it (`spec.attention.rounding.maximum`); here with all that the terms are off by.

These bounds put one rounding after the other, and do not use that errors which a row
shares cancel, as those of attention without dropout do: what goes wrong with dropout is a
factor or a mask. B_a is that of a weight as it is stored, so that 16 bits are granted one
rounding more than `strict` needs. The reference rounds as well; as in
`spec.feed_forward.rounding`, u is the sum of both unit roundoffs.
"""

import numpy as np

from spec.attention import definition as without
from spec.attention import rounding
from spec.attention.notation import Gradients
from spec.attention.rounding import altogether, arithmetic, chained, maximum, sums
from spec.attention.rounding.arithmetic import C_DS, C_INTO, C_SCALE
from spec.dropout import definition
from spec.dropout.notation import Problem
from spec.notation import Array, once

C_KEEP = 4.0


class Bounds:
    """The bounds of one problem with one mask, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, problem: Problem, kept: Array) -> None:
        self.problem, self.kept = problem, kept
        self.rules = arithmetic.allowed(problem)
        self.exact_problem = problem.in_reference()
        self.u = self.rules.u + arithmetic.unit_of_reference(problem.dtype == "float64")

    # The exact values

    @once
    def a(self) -> Array:
        """The weights without dropout.   (B, H, N, M)"""
        return without.weights(self.problem.attention)

    @once
    def f(self) -> Array:
        """m_ij / (1 - p).   (B, H, N, M)"""
        return definition.factors(self.problem, self.kept)

    @once
    def w(self) -> Array:
        """The weights that are used.   (B, H, N, M)"""
        return definition.weights(self.exact_problem, self.kept)

    @once
    def o(self) -> Array:
        """The output.   (B, H, N, E)"""
        return definition.attention(self.exact_problem, self.kept)

    @once
    def gradients(self) -> Gradients:
        """The gradients themselves."""
        return definition.gradients(self.exact_problem, self.kept)

    @once
    def G(self) -> Array:
        """dout v^T.   (B, H, N, M)"""
        return self.problem.dout @ self.problem.v.swapaxes(-1, -2)

    @once
    def delta(self) -> Array:
        """sum_j a_ij da_ij.   (B, H, N, 1)"""
        return (self.a * self.f * self.G).sum(axis=-1, keepdims=True)

    # Weights and output

    @once
    def e(self) -> float:
        """The relative error of a factor, and of its product with a weight."""
        p = self.problem.rate
        magnified = p / (1 - p) if p < 1 else 0.0
        return self.u * (C_KEEP + magnified) * (1 + 8 * self.u) + 2 * self.rules.u_each

    @once
    def B_a(self) -> Array:
        """The budget of a weight without dropout.   (B, H, N, M)"""
        return rounding.of_weights(self.problem.attention)

    @once
    def B_w(self) -> Array:
        """The error of a weight that is used.   (B, H, N, M)"""
        return self._used(self.B_a)

    def _used(self, B_a: Array) -> Array:
        """The error of a weight that is used, if it is off by B_a before it is dropped."""
        w = self.w.astype(np.float64)
        error = (1 + self.e) * self.f * B_a + self.e * w + 2 * self.rules.w
        return np.where(self.f > 0, error, 0.0) * self.problem.allowed

    def _entering(self, B_w: Array) -> Array:
        """The error of a used weight as it enters a product; dropped ones stay 0."""
        w = self.w.astype(np.float64)
        return np.where(B_w > 0, chained.entering(B_w, w, self.rules), 0.0)

    @once
    def weights(self) -> Array:
        """The error of such a weight as it is stored.   (B, H, N, M)"""
        r = self.rules
        error = chained.stored(self.B_w, self.w, r) + r.u_cast * self.w.astype(float) + r.w_cast
        return np.where(self.B_w > 0, error, 0.0)

    @once
    def output(self) -> Array:
        """B_o, as o is stored.   (B, H, N, E)"""
        w = self.w.astype(np.float64)
        B_w = self._entering(self.B_w)
        error = chained.product(w, self.problem.v, self.o, self.rules, self.u, B_left=B_w)
        return chained.stored(error, self.o, self.rules)

    # Gradients

    @once
    def B_again(self) -> Array:
        """The error of a weight that is kept, or computed again.   (B, H, N, M)"""
        attention = self.problem.attention
        again = altogether.bounds(attention).backward.of_scores.again.wrong
        return np.maximum(self.B_a, arithmetic.slack(attention) * again)

    @once
    def B_da(self) -> Array:
        """The error of da.   (B, H, N, M)"""
        p = self.problem
        B_G = chained.product(p.dout, p.v.swapaxes(-1, -2), self.G, self.rules, self.u)
        error = self.f * ((1 + self.e) * B_G + self.e * np.abs(self.G)) + 2 * self.rules.w
        return np.where(self.f > 0, error, 0.0)

    @once
    def B_delta(self) -> Array:
        """The error of delta.   (B, H, N, 1)"""
        r, M, E = self.rules, self.problem.M, self.problem.E
        da, size = np.abs(self.f * self.G), np.abs(self.problem.dout)
        moved = (self.a * self.B_da + self.B_a * (da + self.B_da)).sum(axis=-1, keepdims=True)
        by_weights = self._added((self.a * da).sum(axis=-1, keepdims=True) + moved, moved, M)
        moved = (size * self.output).sum(axis=-1, keepdims=True)
        o = np.abs(self.o).astype(np.float64)
        by_output = self._added((size * o).sum(axis=-1, keepdims=True) + moved, moved, E)
        return np.maximum(by_weights, by_output) + 2 * r.u_each * np.abs(self.delta) + 2 * r.w_each

    def _added(self, size: Array, moved: Array, n: int) -> Array:
        """The error of a sum of n products that is off by `moved` before it is rounded."""
        r = self.rules
        added = sums.of_any_order(size, np.abs(self.delta) + moved, n + 1, u=self.u, w=r.w, count=n)
        return moved + added + 2 * r.u_each * size

    @once
    def Z(self) -> Array:
        """|da - delta|.   (B, H, N, M)"""
        return np.abs(self.f * self.G - self.delta)

    @once
    def B_ds(self) -> Array:
        """The error of ds as it enters a product.   (B, H, N, M)"""
        r, ds, da = self.rules, self.a * self.Z, np.abs(self.f * self.G)
        unit, half = 2 * self.u + 2 * r.u_each, self.u * 0.5 * (self.problem.M - 1)
        B_Z = self.B_da + self.B_delta
        B_Z = B_Z + unit * (da + np.abs(self.delta) + B_Z) + half * (da + self.Z + 2 * B_Z)
        error = self.B_again * self.Z + (self.a + self.B_again) * (B_Z + r.w_each)
        error = error + (C_DS * self.u + 2 * r.u_each) * (ds + error) + 3 * r.w + 2 * r.w_each
        error = np.where(self.problem.allowed, error, 0.0)
        error = error + self.top * self._residue(error, ds)
        return np.where(self.problem.allowed, chained.entering(error, ds, r), 0.0)

    @property
    def top(self) -> Array:
        """1 where a key may attain the maximum of its row, else 0.   (B, H, N, M)"""
        return altogether.bounds(self.problem.attention).backward.maximum.top

    def _residue(self, error: Array, ds: Array) -> Array:
        """What the maximum hands on, of terms that are off by `error`.   (B, H, N, 1)"""
        size, count = (ds + error) * self.problem.allowed, self.problem.allowed.sum(-1)[..., None]
        moved, size = (x.sum(axis=-1, keepdims=True) for x in (error, size))
        return maximum.residue(moved, size, self.rules, count, self.problem.M)

    @once
    def of_gradients(self) -> Gradients:
        """The budgets of dq, dk and dv."""
        p, exact = self.problem, self.gradients
        ds = self.a * (self.f * self.G - self.delta)
        B_w = self._entering(self._used(self.B_again))
        transposed = self.w.astype(np.float64).swapaxes(-1, -2)
        B_dv = chained.product(
            transposed, p.dout, exact.v, self.rules, self.u, B_left=B_w.swapaxes(-1, -2)
        )
        return Gradients(
            q=self._scaled(ds, p.k, self.B_ds, exact.q),
            k=self._scaled(ds.swapaxes(-1, -2), p.q, self.B_ds.swapaxes(-1, -2), exact.k),
            v=chained.stored(B_dv, exact.v, self.rules),
        )

    def _scaled(self, ds: Array, x: Array, B_ds: Array, exact: Array) -> Array:
        """The error of scale (ds x), the scale multiplied in anywhere."""
        r, sigma = self.rules, abs(self.problem.attention.sigma)
        inner = np.abs(exact).astype(np.float64) / sigma if sigma else np.zeros(exact.shape)
        error = sigma * chained.product(ds, x, inner, r, self.u, B_left=B_ds)
        size = sigma * ((np.abs(ds) + B_ds) @ np.abs(x))
        error = error + ((C_INTO + C_SCALE) * self.u + 2 * r.u_each) * (size + error)
        return chained.stored(error + 2 * (1 + sigma) * (r.w + r.w_each), exact, r)


def bounds(problem: Problem, kept: Array) -> Bounds:
    """All that is known of the rounding errors of `problem` with this mask."""
    return Bounds(problem, kept)


def of_any_output(problem: Problem) -> Array:
    """A budget of o that holds whatever is kept: that of the sizes.   (B, H, N, E)"""
    sizes = problem.but(v=np.abs(problem.v))
    return Bounds(sizes, np.ones(problem.allowed.shape, dtype=bool)).output
