"""Budgets of a layer: a projection, attention on what it gives, and another projection.

A linear map of an inexact x, |x^ - x| <= B_x, with W and b as they are, is off by what
B_x does to it, and by Lemma 1 for a sum of n products and a bias (the lemma of
`spec.attention.rounding.chained`); then it is stored:

    y_o = sum_i x_i W_oi + b_o
    B_y = B_x |W|^T + sum((|x| + B_x) |W|^T + |b|, y)

The budgets of the three projections enter attention as those of its inputs
(`spec.attention.rounding.inexact`), and so does that of dC = dout W_o, its cotangent. The
output of attention enters the output projection, and its gradients enter sums over
all rows of all batch elements:

    dW_oi = sum_n dy_no x_ni     B_dW = B_dy^T (|x| + B_x) + |dy|^T B_x + sum(..., dW)

An idle query has no error inside attention: there zero is exactly zero. The gradient of
one array that is query, key and value may be one sum over all three, in any order.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from spec.attention.rounding.altogether import Bounds
from spec.attention.rounding.arithmetic import allowed
from spec.attention.rounding.chained import added_up
from spec.attention.rounding.inexact import Inexact
from spec.attention.rounding.reference import in_float64
from spec.attention.rounding.sums import of_any_order
from spec.layer import definition, turning
from spec.layer.notation import BIASES, LayerGradients, LayerProblem, Parameters
from spec.notation import Array, once

EXACT = np.zeros(1)  # the budget of a number that is what it is


class Budgets:
    """The reference of one layer problem and its budgets, each computed when asked for."""

    def __init__(self, problem: LayerProblem) -> None:
        self.problem, self.p = problem, problem.parameters
        self.exact = problem.in_reference()
        self.inside = definition.inside(self.exact)
        self.rules = allowed(self.inside)
        # A bound is evaluated in float64, which is plenty.
        narrow = {x: in_float64(getattr(self.inside, x)) for x in ("q", "k", "v", "dout")}
        self.bounds = Bounds(self.inside.but(**narrow), self._inputs, self.inside)

    @once
    def _inputs(self) -> Inexact:
        """The budgets of q, k and v, and of the cotangent of attention."""
        x, p, H, G = self.problem, self.p, self.problem.H, self.problem.key_heads
        through = (
            self.linear(x.query, EXACT, p.W_q, p.b_q),
            self.linear(x.key, EXACT, p.W_k, p.b_k),
            self.linear(x.value, EXACT, p.W_v, p.b_v),
            self.linear(x.dout, EXACT, p.W_o.T, None),
        )
        q, k, v, dout = map(definition.split, through, (H, G, G, H))
        if x.turn != "none":
            Q, K = definition.linear(x.query, p.W_q, p.b_q), definition.linear(x.key, p.W_k, p.b_k)
            q = turning.budget(x, self.rules, definition.split(Q, H), q)
            k = turning.budget(x, self.rules, definition.split(K, G), k)
            return Inexact(q, k, v, dout)  # turned keys have nothing in common
        b = np.zeros(len(p.W_k)) if p.b_k is None else p.b_k
        return Inexact(q, k, v, dout, common=definition.split(b[None, None], G))

    # What is returned

    @once
    def y(self) -> Array:
        """The definition's output.   (B, N, A)"""
        o = definition.merge(self.bounds.scores.reference.o)
        return definition.linear(o, self.exact.parameters.W_o, self.exact.parameters.b_o)

    @once
    def of_output(self) -> Array:
        """The budget of y.   (B, N, A)"""
        return self.linear(*self.context, self.p.W_o, self.p.b_o)

    @once
    def context(self) -> tuple[Array, Array]:
        """[o_1 ... o_H] and its budget.   two of (B, N, A)"""
        o = in_float64(self.bounds.scores.reference.o)
        return definition.merge(o), definition.merge(self.bounds.forward.output)

    @property
    def weights(self) -> Array:
        """The definition's weights of every head.   (B, H, N, M)"""
        return self.bounds.scores.reference.weights

    @property
    def of_weights(self) -> Array:
        """The budget of the weights of every head.   (B, H, N, M)"""
        return self.bounds.weights.stored

    @once
    def of_mean_weights(self) -> Array:
        """The budget of their mean: H - 1 additions and a division.   (B, N, M)"""
        r, H = self.rules, self.problem.H
        a, moved = in_float64(self.weights), self.of_weights.sum(axis=1)
        added = of_any_order(a.sum(axis=1) + moved, a.sum(axis=1), H, u=r.u, w=r.w, count=H)
        return self._stored((moved + added) / H + 2 * r.u * a.mean(axis=1) + r.w, a.mean(axis=1))

    # Gradients

    @once
    def gradients(self) -> LayerGradients:
        """The definition's gradients."""
        return definition.gradients(self.exact)

    @once
    def of_gradients(self) -> LayerGradients:
        """The budgets of all gradients, shaped like them."""
        x, p = self.problem, self.p
        dq, dk, dv = self._inner
        by_parameters = Parameters(
            W_q=self.outer(*dq, x.query, EXACT),
            W_k=self.outer(*dk, x.key, EXACT),
            W_v=self.outer(*dv, x.value, EXACT),
            W_o=self.outer(x.dout, EXACT, *self.context),
        )
        added_to = dict(zip(BIASES, (dq, dk, dv, (x.dout, EXACT)), strict=True))
        sums = {name: self.total(*added_to[name]) for name in x.biases}
        ways = tuple(zip(x.given, (dq, dk, dv), (p.W_q, p.W_k, p.W_v), strict=True))
        by_input = {
            name: self._along([(d, W) for given, d, W in ways if given == name])
            for name in x.distinct
        }
        return LayerGradients(by_input, by_parameters.but(**sums))

    def _along(self, ways: list[tuple[tuple[Array, Array], Array]]) -> Array:
        """The budget of an input's gradient, the sum of dX W over the ways it is read along."""
        dX, B_dX = (np.concatenate(x, axis=-1) for x in zip(*(d for d, _ in ways), strict=True))
        return self.linear(dX, B_dX, np.concatenate([W for _, W in ways]).T, None, len(ways))

    def of_step(self, rate: float) -> Parameters:
        """The budgets of p - rate dp, a product and a difference, each of them stored."""
        r, there = self.rules, self.p.named()
        slopes, within = self.gradients.parameters.named(), self.of_gradients.parameters.named()
        u, w = r.u + r.u_out, r.w + r.w_out
        found = {}
        for name, before in there.items():
            moved = rate * np.abs(in_float64(slopes[name]))
            size = np.abs(before) + 3 * moved  # of the product twice, and of the result
            found[name] = (1 + u) * rate * within[name] + u * size + 2 * w
        return Parameters(**found)

    @once
    def _inner(self) -> list[tuple[Array, Array]]:
        """dQ, dK and dV, each with its budget, the heads side by side.   (B, L, A)"""
        back, reference = self.bounds.backward, self.bounds.scores.reference.gradients
        found = []
        for name in "qkv":
            x, off = in_float64(getattr(reference, name)), getattr(back, name)
            if name != "v":
                off = turning.budget(self.problem, self.rules, x, off, sign=-1)
                x = turning.turn(self.problem, x, sign=-1)
            found.append((definition.merge(x), definition.merge(off)))
        return found

    # Linear maps

    def linear(self, x: Array, B_x: Array, W: Array, b: Array | None, stores: int = 1) -> Array:
        """The budget of x W^T + b.   (..., in), (out, in), (out) to (..., out)

        stores: how many results it may be the sum of, each stored for itself.
        """
        known, silent = _known(B_x)
        y, r = definition.linear(x, W, b), self.rules
        budget = self._stored(added_up(x, W.T, y, r, r.u, B_left=known, added=b), y)
        if stores > 1:
            budget = budget + (stores - 1) * r.u_out * ((np.abs(x) + known) @ np.abs(W).T)
        return _silenced(budget, silent, lambda s: s @ (W != 0).astype(float).T)

    def outer(self, dy: Array, B_dy: Array, x: Array, B_x: Array) -> Array:
        """The budget of sum_n dy_n^T x_n over the rows n of all batch elements.   (out, in)"""
        known, silent = _known(B_dy)
        of_g, of_z = (_flat(np.broadcast_to(B, a.shape)) for B, a in ((known, dy), (B_x, x)))
        g, z, r = _flat(dy), _flat(x), self.rules
        exact = g.T @ z
        error = added_up(g.T, z, exact, r, r.u, B_left=of_g.T, B_right=of_z)
        reached = (np.abs(z) + of_z != 0).astype(float)
        return _silenced(self._stored(error, exact), silent, lambda s: _flat(s).T @ reached)

    def total(self, dy: Array, B_dy: Array) -> Array:
        """The budget of sum_n dy_n over the rows n of all batch elements.   (out)"""
        ones = np.ones((*dy.shape[:2], 1))
        return self.outer(dy, B_dy, ones, EXACT)[:, 0]

    def _stored(self, error: Array, y: Array) -> Array:
        """`error`, the storing of a result, and the rounding of the reference itself."""
        r = self.rules
        terms = sum(self.problem.query.shape) + self.problem.key.shape[1] + 8
        reference = np.finfo(np.longdouble if self.problem.dtype == "float64" else float).eps / 2
        slack = min(2.0, 1.0 + terms * float(reference) / r.u)
        return slack * ((1 + r.u_out) * error + r.u_out * np.abs(y) + r.w_out)


@lru_cache(maxsize=8)  # a problem is hashed by identity, and never changes
def budgets(problem: LayerProblem) -> Budgets:
    """The reference and the budgets of `problem`; kept for the last few problems."""
    return Budgets(problem)


def _flat(x: Array) -> Array:
    """All rows of all batch elements.   (B, L, width) to (B L, width)"""
    return x.reshape(-1, x.shape[-1])


def _known(budget: Array) -> tuple[Array, Array]:
    """A budget where it says something, else 0; and 1 where it says nothing."""
    silent = np.isinf(budget)
    return np.where(silent, 0.0, budget), silent.astype(float)


def _silenced(budget: Array, silent: Array, spread: Callable[[Array], Array]) -> Array:
    """No claim on a result in which an unknown number has a part."""
    if not silent.any():
        return budget
    return np.where(spread(silent) > 0, np.inf, budget)
