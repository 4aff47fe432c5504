"""What a result is compared with: the definition, evaluated on the very same numbers."""

from functools import cached_property

import numpy as np

from spec.attention import definition
from spec.attention.notation import Gradients, Problem
from spec.attention.rounding import arithmetic
from spec.notation import Array


class Reference:
    """The definition at the very numbers of `problem`, each part when it is asked for.

    In float64, or in long double where the problem itself is float64.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem.wide() if arithmetic.widens(problem) else problem

    @cached_property
    def scores(self) -> Array:
        """s, and -inf at forbidden keys.   (B, H, N, M)"""
        return definition.scores(self.problem)

    @cached_property
    def weights(self) -> Array:
        """a.   (B, H, N, M)"""
        return definition.softmax(self.scores, definition.sinks(self.problem))

    @cached_property
    def o(self) -> Array:
        """The output, as `definition.attention` has it, from the weights at hand.   (B, H, N, E)"""
        return self.weights @ definition.shared(self.problem.v, self.problem.H)

    @cached_property
    def lse(self) -> Array:
        """The log-sum-exp, -inf for idle queries.   (B, H, N)"""
        return definition.lse(self.problem)

    @cached_property
    def gradients(self) -> Gradients:
        """The derivatives of <dout, o> by q, k, v, the scores and the sinks."""
        return definition.gradients(self.problem)


def in_float64(x: Array) -> Array:
    """`x` for the evaluation of a bound, where float64 is plenty."""
    return x.astype(np.float64, copy=False)


def of_reader(x: Array, problem: Problem) -> Array:
    """What a clause may lose of a number as large as x, in two operations of its own."""
    return 2 * arithmetic.unit_of_reference(arithmetic.widens(problem)) * x
