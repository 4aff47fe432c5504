"""Section Y, concluded. Every head has its own slope.

The slope of one head leaves no trace in the output of another (Y16). Y3 asks the same to the last
bit, which needs the same order of summation in both calls: a promise of the implementation.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.clauses.slopes import sloping
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits


def with_other_slopes(problem: Problem) -> tuple[int, Problem, Problem]:
    """A head, the problem with a slope in every head, and with others in all but this one."""
    mine, usual = problem.chance().below(problem.H), sloping(problem)
    assert usual.slopes is not None
    others = np.arange(problem.H) != mine
    return mine, usual, usual.but(slopes=usual.slopes * (1 + others))


@clause(
    "Y3",
    over=Problems(slopes=True, least=(1, 2, 2, 2)),
    needs={Capability.SEVERAL},
    catches={
        "shares_the_first_slope_among_heads",
        "reads_slopes_in_reverse",
        "reads_slopes_of_the_batch",
        "reads_slopes_as_if_heads_were_groups",
    },
    promise="order",
)
def each_head_has_its_own_slope(attention: Implementation, problem: Problem) -> None:
    """Changing the slope of one head changes no bit of the output of any other head.

        o_h(m) = o_h(m')    to the bit, where the slopes m and m' differ only for other heads

    Every query head has its own slope, even if several query heads share one key head.
    """
    mine, usual, moved = with_other_slopes(problem)

    o, p = attention.forward(usual), attention.forward(moved)

    same_bits(p[:, mine], o[:, mine])


@clause(
    "Y16",
    over=Problems(slopes=True, least=(1, 2, 2, 2)),
    needs={Capability.SEVERAL},
    catches={
        "shares_the_first_slope_among_heads",
        "reads_slopes_in_reverse",
        "reads_slopes_of_the_batch",
        "reads_slopes_as_if_heads_were_groups",
    },
)
def slopes_of_other_heads_leave_no_trace(attention: Implementation, problem: Problem) -> None:
    """The slope of one head leaves no trace in the output of any other head.

        o_h(m) = o_h(m')    where the slopes m and m' differ only for other heads

    Every query head has its own slope, even if several query heads share one key head. This is Y3
    up to rounding.
    """
    mine, usual, moved = with_other_slopes(problem)

    o, p = attention.forward(usual), attention.forward(moved)

    within = rounding.of_output(usual)[:, mine] + rounding.of_output(moved)[:, mine]
    equal(p[:, mine], o[:, mine], within=within)
