"""Budgets: the rounding error that a correct implementation may make on a given problem.

Per element, and derived, never a literal. `formats` knows the four formats,
`arithmetic` what may be rounded where, `sums` what rounding does to a sum,
`forward` and `backward` derive the bounds. A budget is a function of a problem,
whose `dtype` and `rounding` say which arithmetic is allowed; in that arithmetic any
order of summation, any tiling, with or without fused multiply-add, stays within it.

Idle rows and gradients of keys that no query sees have a budget of exactly zero;
what a mask forbids enters no budget. An infinite budget is no claim. Overflow is
another matter: see `in_domain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from spec.notation import Array, Gradients, Problem
from spec.rounding.arithmetic import allowed
from spec.rounding.backward import Backward
from spec.rounding.domain import in_domain
from spec.rounding.formats import FORMATS, Format, rounded
from spec.rounding.forward import Forward
from spec.rounding.reference import Reference
from spec.rounding.score_gradients import ScoreGradients
from spec.rounding.scores import Scores
from spec.rounding.sums import of_any_order
from spec.rounding.weights import Weights

__all__ = [
    "FORMATS",
    "Bounds",
    "Coverage",
    "Format",
    "Reference",
    "admissible",
    "bounds",
    "coverage",
    "in_domain",
    "of_gradients",
    "of_lse",
    "of_output",
    "of_row_sum",
    "of_sum",
    "of_weights",
    "reference",
    "rounded",
]


class Bounds:
    """The bounds of one problem; those of the gradients only when they are asked for."""

    def __init__(self, problem: Problem) -> None:
        self.scores = Scores(problem)
        self.weights = Weights(self.scores)
        self.forward = Forward(self.weights)

    @cached_property
    def backward(self) -> Backward:
        """Those of the gradients."""
        return Backward(ScoreGradients(self.forward))


@lru_cache(maxsize=8)  # a problem is hashed by identity, and never changes
def bounds(problem: Problem) -> Bounds:
    """All that is known of the rounding errors of `problem`; kept for the last few problems."""
    return Bounds(problem)


def reference(problem: Problem) -> Reference:
    """The definition at the very numbers of `problem`: o, weights, lse, gradients.

    In float64; in long double for a float64 problem, unless it is large
    (`arithmetic.WIDE_UP_TO`). The budgets include the reference's own error.
    """
    return bounds(problem).scores.reference


def of_output(problem: Problem) -> Array:
    """The budget of o as it is stored in the dtype.   (B, H, N, E)"""
    return bounds(problem).forward.output


def admissible(problem: Problem) -> tuple[Array, Array]:
    """The least and the greatest o that is right.   two of (B, H, N, E)

    A strict result of 16 bits is rounded once, so with B the error before that

        RN(o - B) <= stored <= RN(o + B)

    as rounding to nearest is monotone. Most elements have one admissible value.
    Elsewhere, o - of_output and o + of_output.
    """
    forward = bounds(problem).forward
    o = forward.scores.reference.o
    if not forward.rules.u_out or forward.rules.u_cast:
        return o - forward.output, o + forward.output
    low, high = o - forward.accumulated, o + forward.accumulated
    return rounded(low, problem.dtype), rounded(high, problem.dtype)


def of_weights(problem: Problem) -> Array:
    """The budget of the weights as an array of the dtype; 0 at forbidden keys.   (B, H, N, M)"""
    return bounds(problem).weights.stored


def of_row_sum(problem: Problem) -> Array:
    """The budget of the sum of a row of stored weights, less one; 0 if idle.   (B, H, N)"""
    return bounds(problem).weights.row_sum


def of_lse(problem: Problem, stored: str | None = None) -> Array:
    """The budget of the log-sum-exp; 0 for an idle row, where it is exactly -inf.   (B, H, N)

    stored: the format that it came in; that of the problem unless told otherwise.
    """
    return bounds(problem).weights.log_sum(stored or problem.dtype)


def of_gradients(problem: Problem) -> Gradients:
    """The budgets of dq, dk, dv and, as the gradient of the scores, of db."""
    backward = bounds(problem).backward
    return Gradients(q=backward.q, k=backward.k, v=backward.v, bias=backward.bias)


def of_sum(terms: Array, budget: Array, shape: tuple[int, ...], problem: Problem) -> Array:
    """The budget of `terms` added up to `shape`, the inverse of broadcasting.   (shape)

    Each term is within its `budget` before it is added, in any order (Lemma 1), and
    the sum is stored once. For the gradient of a bias that was broadcast.
    """
    rules = allowed(problem)
    axes, n = _broadcast_axes(terms.shape, shape)
    values = terms.astype(np.float64, copy=False)
    size, moved, total = (x.sum(axis=axes).reshape(shape) for x in (np.abs(values), budget, values))
    count = np.minimum(size + moved, 1) > 0
    added = of_any_order(size + moved, total, n, u=rules.u, w=rules.w, count=n * count)
    stored = rules.u_out * (np.abs(total) + moved + added) + rules.w_out * count
    return moved + added + stored


def _broadcast_axes(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The axes of `shape` that `target` lacks or has once; and how many terms they hold."""
    lead = len(shape) - len(target)
    axes = tuple(
        axis
        for axis, size in enumerate(shape)
        if axis < lead or (target[axis - lead] == 1 and size != 1)
    )
    return axes, int(np.prod([shape[axis] for axis in axes], dtype=int))


@dataclass(frozen=True)
class Coverage:
    """How much the budgets of a problem say.

    rows: rows that see a key. capped: of these, those whose weights are hardly
    determined, so that their output is only held to the hull of the values.
    silent: those about whose gradients nothing is claimed.
    """

    rows: int
    capped: int
    silent: int


def coverage(problem: Problem) -> Coverage:
    """How much the budgets of `problem` say, so that a pass is not a pass of nothing."""
    known = bounds(problem)
    counts = (~problem.idle, known.weights.capped, known.backward.of_scores.silent)
    return Coverage(*(int(np.count_nonzero(x)) for x in counts))
