"""Section V, continued. A mean is no larger than what it is a mean of.

The weights of a row sum to one, so an output that is a mean of numbers of a
format is a number of that format. What is divided by the sum of the weights
last need not be: before that it is up to M times as large, and sums over many
keys want a format with room for them.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

LARGE = 2.0**14  # a quarter of where float16 ends, so that four add up to more than it has


@clause(
    "V10",
    over=Problems(masks=PLAIN, sinks=False, segments=False, least=(1, 1, 1, 8)),
    catches={"adds_values_within_65504", "returns_zero"},
)
def a_mean_of_large_values_is_no_larger(attention: Implementation, problem: Problem) -> None:
    """Where all keys weigh the same and all values are 2^14, the output is 2^14.

        q = 0, v_j = 2^14  implies  o_i = 2^14    for any M

    Kernels divide by the sum of weights last. What they divide is M 2^14: beyond float16, whose
    largest number is 65504, from four keys on.
    """
    large = problem.but(q=np.zeros_like(problem.q), v=np.full(problem.v.shape, LARGE))

    o = attention.forward(large)

    want = np.where(problem.idle[..., None], 0.0, LARGE)
    equal(o, want + np.zeros(o.shape), within=rounding.of_output(large))
