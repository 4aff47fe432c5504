"""The expected results: the definition, evaluated on the very same numbers."""

import numpy as np

from spec.attention import definition
from spec.attention.notation import Gradients, Problem
from spec.attention.rounding import arithmetic
from spec.notation import Array, once


class Reference:
    """The definition at the very numbers of `problem`, each part when it is asked for.

    In float64, or in long double where the problem itself is float64.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem.wide() if arithmetic.widens(problem) else problem

    @once
    def scores(self) -> Array:
        """s, and -inf at forbidden keys.   (B, H, N, M)"""
        return definition.scores(self.problem)

    @once
    def top(self) -> Array:
        """m, the largest score of each query.   (B, H, N, 1)"""
        return definition.top(self.scores, definition.sinks(self.problem))

    @once
    def powers(self) -> tuple[Array, Array]:
        """exp(s - m), and their sum.   (B, H, N, M) and (B, H, N, 1)"""
        return definition.powers(self.scores, self.top, definition.sinks(self.problem))

    @once
    def weights(self) -> Array:
        """a.   (B, H, N, M)"""
        return definition.normalised(*self.powers)

    @once
    def o(self) -> Array:
        """The output, as `definition.attention` has it, from the weights at hand.   (B, H, N, E)"""
        return self.weights @ definition.shared(self.problem.v, self.problem.H)

    @once
    def lse(self) -> Array:
        """The log-sum-exp, -inf for idle queries.   (B, H, N)"""
        return definition.log_sum(self.top, self.powers[1])

    @once
    def gradients(self) -> Gradients:
        """The derivatives of <dout, o> by q, k, v, the scores and the sinks."""
        return definition.differentiated(self.weights, self.problem)


def in_float64(x: Array) -> Array:
    """`x` for the evaluation of a bound, where float64 is plenty."""
    return x.astype(np.float64, copy=False)


def of_reader(x: Array, problem: Problem) -> Array:
    """The error that a clause may make in two operations on a number as large as x."""
    return 2 * arithmetic.unit_of_reference(arithmetic.widens(problem)) * x
