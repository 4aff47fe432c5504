"""All that is known of the rounding errors of one problem, kept for the last few."""

from functools import lru_cache

import numpy as np

from spec.attention.moves import with_the_sink_as_a_key
from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import in_single
from spec.attention.rounding.backward import Backward
from spec.attention.rounding.exactly import Exactly, is_exact
from spec.attention.rounding.forward import Forward
from spec.attention.rounding.inexact import Inexact
from spec.attention.rounding.reference import Reference
from spec.attention.rounding.score_gradients import ScoreGradients
from spec.attention.rounding.scores import Scores
from spec.attention.rounding.slanted import slanted
from spec.attention.rounding.weights import Weights
from spec.notation import Array, once

LARGE = 2**18  # scores of a problem of which a gigabyte may be known: only the last one is kept


class Bounds:
    """The bounds of one problem; those of the gradients only when they are asked for.

    inputs: how far the inputs may be from these numbers. exact: the same problem in more
    digits, where its numbers are no numbers of the dtype, as inside a layer. A sink is bounded as
    what it is, one more key of value zero (proved: `any_sink`).
    """

    def __init__(
        self, problem: Problem, inputs: Inexact | None = None, exact: Problem | None = None
    ) -> None:
        whole = problem if problem.sinks is None else with_the_sink_as_a_key(problem)
        slant = slanted(problem, whole.M)
        inputs = (inputs or Inexact.nothing()).entered(whole)
        self.scores = Scores(whole, inputs, exact or whole, slant)
        self.reference = self.scores.reference if whole is problem else Reference(problem)
        self.weights = Weights(self.scores)
        self.forward = Forward(self.weights)

    @once
    def backward(self) -> Backward:
        """The error bounds of the gradients."""
        return Backward(ScoreGradients(self.forward))

    @once
    def exactly(self) -> Exactly | None:
        """Others of gradients, where all that leads to them is exact in 16 bits."""
        if not is_exact(self.scores):
            return None
        return Exactly(self.scores, Bounds(in_single(self.scores.problem)).backward)

    def of_gradient(self, name: str) -> Array:
        """The error bound of dq, dk, dv, ds or ds `unstored`: the smaller one, if there are two."""
        usual: Array = getattr(self.backward, name)
        return usual if self.exactly is None else np.minimum(usual, getattr(self.exactly, name))

    @once
    def of_the_sink(self) -> Array:
        """The error bound of ds of the last key, a sink: the smaller one.   (B, H, N, 1)"""
        usual = self.backward.of_the_sink
        if self.exactly is None:
            return usual
        error = self.exactly.of_ds[..., -1:] + self.backward.gated
        return np.minimum(usual, self.scores.slack * error)


def bounds(problem: Problem) -> Bounds:
    """All that is known of the rounding errors of `problem`; kept for the last few problems."""
    scores = problem.B * problem.H * problem.N * problem.M
    return _of_large(problem) if scores > LARGE else _of_usual(problem)


@lru_cache(maxsize=8)  # a problem is hashed by identity, and never changes
def _of_usual(problem: Problem) -> Bounds:
    return Bounds(problem)


@lru_cache(maxsize=1)
def _of_large(problem: Problem) -> Bounds:
    return Bounds(problem)


def of_keys(x: Array, problem: Problem, axis: int = -1) -> Array:
    """Of the bounds of all keys, those without that of the sink."""
    return x if problem.sinks is None else x.take(range(problem.M), axis=axis)
