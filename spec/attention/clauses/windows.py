"""Section W. A sliding window limits each query to the keys around its position.

With a window (L, R), a query may attend to the keys from L positions before its position to R
positions after it, both included. None means that there is no bound on that side:

    query i may attend to key j    only if    -L <= j - p_i <= R

(a sliding window: Beltagy, Peters and Cohan 2020). Causality and a mask apply in addition. The
position p_i is i (top-left alignment), or i + M - N where the queries are the last of the
sequence (bottom-right). The alignment is that of causality unless the convention
`window-alignment` is declared.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.softmax import seen
from spec.attention.contents import UNBOUNDED
from spec.attention.domain import ADDITIVE, BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
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
def sliding_window_equals_explicit_mask(attention: Implementation, problem: Problem) -> None:
    """A window gives the same output as the equivalent explicit mask, for any N and M.

        o(window = (L, R)) = o(mask = -L <= r_j - p_i <= R)

    Here p_i and r_j are the positions of query i and key j. Where N != M, this determines the
    alignment of the window. With leading keys, the mask is that of W16.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "W2",
    over=Problems(masks=(*BOOLEAN, *ADDITIVE), windows=True),
    catches={"forgets_the_window_beside_a_mask", "ignores_the_window"},
)
def mask_and_window_both_apply(attention: Implementation, problem: Problem) -> None:
    """A key is visible only if the mask, the window and causality all allow it.

        o(mask, window, causal) = o(mask and window and causal)

    An implementation in which a mask replaces the window still passes if each of the two is
    tested alone.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "W3",
    over=Problems(masks=PLAIN, windows=True, causal=True, square=True, in_rows=True),
    needs={Capability.FUTURE},
    catches={"forgets_the_window_beside_causality", "has_windows_where_it_is_causal"},
    effort=2,
    proof=exactly.causality_ends_a_window,
)
def causal_window_ends_at_the_query(attention: Implementation, problem: Problem) -> None:
    """If attention is causal, a window reaches no further ahead than the query itself.

        o(causal; window = (L, R)) = o(window = (L, 0))

    This is for N = M, where top-left and bottom-right alignment agree. If positions restart in
    segments, each segment must have as many queries as keys.
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
def left_unbounded_window_equals_causal(attention: Implementation, problem: Problem) -> None:
    """A window with no left bound and no keys ahead of the query is the same as causality.

        o((None, 0)) = o(causal)    for N = M

    In both cases a query attends to the keys up to its own position: None is no bound on the left,
    and 0 is a bound on the right. The clause catches code that takes None for 0, or 0 for None.
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
def reversing_the_sequence_swaps_window_bounds(attention: Implementation, problem: Problem) -> None:
    """Reversing the sequence and swapping the bounds of the window reverses the output.

        o(x reversed; (R, L))_i = o(x; (L, R))_(N-1-i)    for N = M

    Here x are all inputs, and there are no leading keys. A key that was L positions before its
    query is then L positions after it.
    """
    backwards = slice(None, None, -1)
    mirrored = moves.of_keys(moves.of_queries(problem, backwards), backwards)
    mirrored = mirrored.but(window=problem.window[::-1])

    o, p = attention.forward(problem), attention.forward(mirrored)

    within = rounding.of_output(problem)[:, :, ::-1] + rounding.of_output(mirrored)
    equal(p, o[:, :, ::-1], within=within)


@clause("W9", over=replace(WINDOWS, positions=False), catches={"takes_windows_to_be_causal"})
def window_wider_than_sequence_masks_nothing(attention: Implementation, problem: Problem) -> None:
    """A window whose bounds reach beyond both ends of the sequence changes nothing.

        o((N + M, N + M)) = o(no window)

    Such a window masks no key. The clause catches code that treats every window as causal.
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
def key_outside_window_has_zero_weight(attention: Implementation, problem: Problem) -> None:
    """The weight of a key outside the window of a query is exactly zero, except for leading keys.

        a_ij = 0    for j outside the window of i, and not a leading key

    The score of such a key counts as -inf. A finite penalty instead may leave a small weight.
    """
    a, _ = seen(attention, problem)

    equal(np.where(problem.outside, a, 0), np.zeros(a.shape), within=0)


@clause(
    "W26",
    over=Problems(masks=PLAIN, windows=True, tiled="one query", segments=False),
    catches={"excludes_the_right_bound_of_a_single_query"},
    effort=2,
)
def window_of_a_single_query_is_correct(attention: Implementation, problem: Problem) -> None:
    """The window of a single query contains the same keys as that of a query at the same position
    among others.

        o_0 = sum_j a_0j v_j    over the keys j that are visible to query 0, for N = 1

    Decoding calls attention with one query at a time. Many libraries have a separate kernel for a
    single query, or gather the keys of the window first.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
