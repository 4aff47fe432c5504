"""Section Z, concluded. The sink of a head leaves no trace in the output of another.

Z5 requires the same to the last bit, which needs the same order of summation in both calls: a
promise of the implementation (`spec.promises`). The value is required.
"""

from spec.attention import rounding
from spec.attention.clauses.sinks import with_other_sinks
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "Z19",
    over=Problems(sinks=True, least=(1, 2, 1, 1)),
    needs={Capability.SEVERAL},
    catches={
        "shares_the_first_sink_among_heads",
        "reads_sinks_in_reverse",
        "reads_sinks_of_the_batch",
        "reads_sinks_as_if_heads_were_groups",
    },
)
def sinks_of_other_heads_leave_no_trace(attention: Implementation, problem: Problem) -> None:
    """The sink of one head leaves no trace in the output of any other head.

        o_h(t) = o_h(t')    where t and t' differ only for other heads

    Every query head has its own sink, even if several query heads share one key head.
    """
    mine, usual, moved = with_other_sinks(problem)

    o, p = attention.forward(usual), attention.forward(moved)

    within = rounding.of_output(usual)[:, mine] + rounding.of_output(moved)[:, mine]
    equal(p[:, mine], o[:, mine], within=within)
