"""Section W. A window shows a query the keys around its own place.

A window (L, R) leaves query i the keys from L places behind its own to R places ahead of it,
its own included, and None bounds nothing:

    j is seen by i    only if    -L <= j - p_i <= R

(a sliding window: Beltagy, Peters and Cohan 2020). Causality and a mask hide what they hide
beside it. The place p_i is i, or i + M - N where the queries are the last of the text: the
corner is that of causality unless `window corner` is declared.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.softmax import seen
from spec.attention.domain import ADDITIVE, BOOLEAN, PLAIN, Problems
from spec.attention.notation import UNBOUNDED, Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

WINDOWS = Problems(masks=PLAIN, windows=True)
SQUARE = Problems(masks=PLAIN, windows=True, square=True, positions=False)
ALONE = Problems(masks=PLAIN, windows=True, square=True, causal=False, positions=False)


@clause(
    "W1",
    over=WINDOWS,
    needs={Capability.MASK},
    catches={
        "ignores_the_window",
        "bounds_windows_to_the_left_alone",
        "bounds_windows_to_the_right_alone",
        "takes_the_left_bound_for_both",
        "swaps_the_bounds_of_a_window",
        "takes_windows_to_be_causal",
        "has_windows_where_it_is_causal",
        "excludes_the_left_bound",
        "reaches_one_key_further_back",
        "excludes_the_right_bound",
        "reaches_one_key_further_ahead",
        "centres_windows_at_the_end",
        "stops_windows_at_the_last_key",
        "shares_a_left_bound_among_rows",
        "keeps_the_first_key_in_sight",
        "takes_no_bound_for_zero",
    },
    effort=2,
)
def a_window_is_a_mask(attention: Implementation, problem: Problem) -> None:
    """Asking for a window is asking for its mask, for any lengths.

        o(window = (L, R)) = o(mask = -L <= j - p_i <= R)

    Where N != M this settles the corner that windows hang in.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "W2",
    over=Problems(masks=(*BOOLEAN, *ADDITIVE), windows=True),
    catches={"forgets_the_window_beside_a_mask", "ignores_the_window"},
)
def a_mask_and_a_window_intersect(attention: Implementation, problem: Problem) -> None:
    """A key is seen if the mask, the window and causality all leave it.

        o(mask, window) = o(mask and window)

    A mask that replaces a window is right while each is tested alone.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "W3",
    over=Problems(masks=PLAIN, windows=True, causal=True, square=True),
    needs={Capability.FUTURE},
    catches={"forgets_the_window_beside_causality", "has_windows_where_it_is_causal"},
    effort=2,
    proof=exactly.causality_ends_a_window,
)
def causality_ends_a_window_at_the_present(attention: Implementation, problem: Problem) -> None:
    """Beside causality a window reaches no further ahead than to its query.

        o(causal; (L, R)) = o((L, 0))

    For N = M, where every corner is the same.
    """
    left, _ = problem.window
    bounded = problem.but(causal=False, window=(left, 0))

    o, p = attention.forward(problem), attention.forward(bounded)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(bounded))


@clause(
    "W4",
    over=replace(ALONE, positions=None),
    needs={Capability.CAUSAL},
    catches={
        "excludes_the_right_bound",
        "reaches_one_key_further_ahead",
        "takes_a_bound_of_zero_for_none",
        "takes_no_bound_for_zero",
        "has_windows_where_it_is_causal",
    },
)
def without_a_bound_behind_it_is_causality(attention: Implementation, problem: Problem) -> None:
    """A window with no bound to the left, and none of the keys ahead, is causality.

    o((None, 0)) = o(causal)    for N = M
    """
    bounded, causal = problem.but(window=(None, 0)), problem.but(window=UNBOUNDED, causal=True)

    o, p = attention.forward(bounded), attention.forward(causal)

    equal(o, p, within=rounding.of_output(bounded) + rounding.of_output(causal))


@clause(
    "W8",
    over=replace(ALONE, firsts=False, slopes=False),
    catches={
        "takes_the_left_bound_for_both",
        "takes_windows_to_be_causal",
        "bounds_windows_to_the_left_alone",
        "bounds_windows_to_the_right_alone",
    },
    proof=exactly.a_window_read_backwards_is_turned_round,
)
def a_window_read_backwards_is_turned_round(attention: Implementation, problem: Problem) -> None:
    """Read backwards, what lay behind lies ahead.

    o(x backwards; (R, L))_i = o(x; (L, R))_(N-1-i)    for N = M
    """
    backwards = slice(None, None, -1)
    mirrored = moves.of_keys(moves.of_queries(problem, backwards), backwards)
    mirrored = mirrored.but(window=problem.window[::-1])

    o, p = attention.forward(problem), attention.forward(mirrored)

    within = rounding.of_output(problem)[:, :, ::-1] + rounding.of_output(mirrored)
    equal(p, o[:, :, ::-1], within=within)


@clause("W9", over=replace(WINDOWS, positions=False), catches={"takes_windows_to_be_causal"})
def a_window_wider_than_the_text_hides_nothing(attention: Implementation, problem: Problem) -> None:
    """Bounds that reach beyond both ends of the text change nothing.

    o((N + M, N + M)) = o(no window)
    """
    most = problem.N + problem.M
    wide, plain = problem.but(window=(most, most)), problem.but(window=UNBOUNDED)

    o, p = attention.forward(wide), attention.forward(plain)

    equal(o, p, within=rounding.of_output(wide) + rounding.of_output(plain))


@clause(
    "W15",
    over=Problems(masks=PLAIN, windows=True, modest=True),
    catches={"ignores_the_window", "floors_the_exponential"},
)
def what_lies_outside_a_window_has_no_weight(attention: Implementation, problem: Problem) -> None:
    """The weight of a key outside the window of a query is exactly zero.

    a_ij = 0    for j outside the window of i
    """
    a, _ = seen(attention, problem)

    equal(np.where(problem.outside, a, 0), np.zeros(a.shape), within=0)
