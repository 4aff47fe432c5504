"""Section J, continued. Other segments have zero weight and leave no trace in the output.

A key of another segment enters no sum. Even a very small weight would change the last bits, so J6
compares with zero, and J7 bit by bit. J7 also needs the same order of summation in two calls, which
is a promise of the implementation; J19 asks for the value alone.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.segments import met, of_the_first
from spec.attention.clauses.softmax import seen
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.formats import rounded
from spec.notation import Array


def with_other_segments(problem: Problem) -> tuple[Array, Problem, Problem]:
    """The queries of a segment, a problem, and one with other content in all other segments."""
    problem = moves.unshared(met(problem))
    mine, theirs = (x[:, None, :, None] for x in of_the_first(problem))
    q, k = (
        np.where(own, x, rounded(1 - np.clip(x, -1, 1), problem.dtype))
        for own, x in ((mine, problem.q), (theirs, problem.k))
    )
    return mine, problem, problem.but(q=q, k=k, v=np.where(theirs, problem.v, 4.0))


@clause(
    "J6",
    over=Problems(masks=PLAIN, segments=True, modest=True),
    catches={"ignores_the_segments", "takes_segments_for_padding", "floors_the_exponential"},
)
def other_segments_have_zero_weight(attention: Implementation, problem: Problem) -> None:
    """The weight of a key of another segment, or of a padding token, is exactly zero.

        a_ij = 0    unless seg_i = seg_j >= 0

    An exponential that saturates above zero leaves such a key a small weight.
    """
    a, _ = seen(attention, problem)

    equal(np.where(problem.same_text, 0, a), np.zeros(a.shape), within=0)


@clause(
    "J7",
    over=Problems(segments=True, least=(1, 1, 1, 2)),
    catches={"ignores_the_segments", "takes_segments_for_padding", "sees_earlier_texts_too"},
    promise="order",
)
def other_segments_change_no_bit_of_the_output(attention: Implementation, problem: Problem) -> None:
    """Changing the queries, keys and values of other segments changes no bit of a segment's output.

        o(q, k, v)_t = o(q', k', v')_t    for finite q', k', v' that differ only outside segment t

    In a packed batch, another segment may belong to another user.
    """
    mine, problem, other = with_other_segments(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(np.where(mine, after, 0), np.where(mine, before, 0))


@clause(
    "J19",
    over=Problems(segments=True, least=(1, 1, 1, 2)),
    catches={"ignores_the_segments", "takes_segments_for_padding", "sees_earlier_texts_too"},
    effort=2,
)
def other_segments_leave_no_trace_in_the_output(
    attention: Implementation, problem: Problem
) -> None:
    """The queries, keys and values of other segments leave no trace in a segment's output.

        o(q, k, v)_t = o(q', k', v')_t    for finite q', k', v' that differ only outside segment t

    This is J7 up to rounding.
    """
    mine, problem, other = with_other_segments(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(np.where(mine, after, 0), np.where(mine, before, 0), within=within)
