"""Section J, continued. What another text holds has no weight, and changes no bit.

A key of another text enters no sum. With a weight that is merely small it would change the last
bits, so both clauses compare exactly: with zero, and bit by bit.
"""

import numpy as np

from spec.attention import moves
from spec.attention.clauses.segments import met, of_the_first
from spec.attention.clauses.softmax import seen
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.formats import rounded


@clause(
    "J6",
    over=Problems(masks=PLAIN, segments=True, modest=True),
    catches={"ignores_the_segments", "takes_segments_for_padding", "floors_the_exponential"},
)
def other_texts_have_no_weight(attention: Implementation, problem: Problem) -> None:
    """The weight of a key of another text, or of padding, is exactly zero.

    a_ij = 0    unless seg_i = seg_j >= 0
    """
    a, _ = seen(attention, problem)

    equal(np.where(problem.same_text, 0, a), np.zeros(a.shape), within=0)


@clause(
    "J7",
    over=Problems(segments=True, least=(1, 1, 1, 2)),
    catches={"ignores_the_segments", "takes_segments_for_padding", "sees_earlier_texts_too"},
    effort=2,
)
def what_other_texts_hold_changes_no_bit(attention: Implementation, problem: Problem) -> None:
    """Other queries, keys and values in other texts change no bit of what a text returns.

        o(q, k, v)_t = o(q', k', v')_t    where they differ only outside of t

    In a packed batch another text may well be another user's.
    """
    problem = moves.unshared(met(problem))
    mine, theirs = (x[:, None, :, None] for x in of_the_first(problem))
    q, k = (
        np.where(own, x, rounded(1 - np.clip(x, -1, 1), problem.dtype))
        for own, x in ((mine, problem.q), (theirs, problem.k))
    )
    other = problem.but(q=q, k=k, v=np.where(theirs, problem.v, 4.0))

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(np.where(mine, after, 0), np.where(mine, before, 0))
