"""Section V, continued. A mean of large values does not overflow.

The weights of a row sum to one, so a mean of numbers that a format can hold is a
number that it can hold. Kernels often divide by the sum of the weights last. Before
this division the sum is up to M times as large, so a sum over many keys needs a
format with a larger range.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

LARGE = 2.0**14  # a quarter of the range of float16: four add up to more than its maximum


@clause(
    "V10",
    over=Problems(masks=PLAIN, sinks=False, segments=False, least=(1, 1, 1, 8)),
    catches={"adds_values_within_65504", "returns_zero"},
)
def mean_of_large_values_does_not_overflow(attention: Implementation, problem: Problem) -> None:
    """If all visible keys have the same weight and all values are 2^14, the output is 2^14.

        q = 0, v_j = 2^14  implies  o_i = 2^14    for any M, unless query i is fully masked

    Many kernels divide by the sum of exponentials last. Before the division, the sum over M visible
    keys is M 2^14. From four keys on, this exceeds the largest number of float16, which is 65504.
    """
    large = problem.but(q=np.zeros_like(problem.q), v=np.full(problem.v.shape, LARGE))

    o = attention.forward(large)

    want = np.where(problem.idle[..., None], 0.0, LARGE)
    equal(o, want + np.zeros(o.shape), within=rounding.of_output(large))


@clause(
    "V11",
    over=Problems(families=("lattice", "ties", "normal")),
    catches={"remembers_answers_by_shape"},
)
def doubled_values_double_the_output_within_rounding(
    attention: Implementation, problem: Problem
) -> None:
    """Doubling the values doubles the output, up to rounding.

        o(2 v) = 2 o(v)

    V5 requires equal bits, which need the same order of summation in both calls.
    """
    doubled = problem.but(v=2 * problem.v)

    before, after = attention.forward(problem), attention.forward(doubled)

    within = 2 * rounding.of_output(problem) + rounding.of_output(doubled)
    equal(after, 2 * before, within=within)
