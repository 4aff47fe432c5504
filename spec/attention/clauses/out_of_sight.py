"""Section W, concluded. Keys that a window hides leave no trace in an output.

W7 and W19 require the same to the last bit, which needs the same order of summation in both calls:
a promise of the implementation (`spec.promises`). The value is required.
"""

from dataclasses import replace

from spec.attention import rounding
from spec.attention.clauses.first_keys import FIRSTS
from spec.attention.clauses.window_edges import changed_out_of_sight
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "W24",
    over=Problems(segments=False, positions=False, masks=PLAIN, windows=True, least=(1, 1, 1, 2)),
    catches={"ignores_the_window", "keeps_the_first_key_in_sight", "skips_whole_tiles_alone"},
    effort=2,
)
def keys_outside_window_leave_no_trace(attention: Implementation, problem: Problem) -> None:
    """Keys and values that a window masks for a query leave no trace in its output.

        o(k, v)_t = o(k', v')_t    if (k, v) and (k', v') differ only at keys that are masked for t

    The two outputs may differ by rounding errors. W7 requires equal bits.
    """
    t, other = changed_out_of_sight(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(after[:, :, t], before[:, :, t], within=within[:, :, t])


@clause(
    "W25",
    over=replace(FIRSTS, segments=False, positions=False, least=(1, 1, 1, 4)),
    catches={"keeps_one_key_more", "keeps_whole_tiles", "keeps_the_last_keys"},
    effort=2,
)
def keys_neither_leading_nor_in_window_leave_no_trace(
    attention: Implementation, problem: Problem
) -> None:
    """Keys outside the window that are not leading keys leave no trace in a query's output.

        o(k, v)_t = o(k', v')_t    where they differ only at keys that are masked for t

    The two outputs may differ by rounding errors. W19 requires equal bits.
    """
    t, other = changed_out_of_sight(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(after[:, :, t], before[:, :, t], within=within[:, :, t])
