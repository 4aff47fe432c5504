"""Section W. A window shows a query the keys around its own place.

A window (L, R) leaves query i the keys from L places behind its own to R places ahead of it,
its own included, and None bounds nothing:

    j is seen by i    only if    -L <= j - p_i <= R

(a sliding window: Beltagy, Peters and Cohan 2020). Causality and a mask hide what they hide
beside it. The place p_i is i, or i + M - N where the queries are the last of the text: the
corner is that of causality unless `window corner` is declared.

So a window costs L + R + 1 keys for each query, however long the text is, and a decoder may forget
what every window has left. Both depend on edges: of the window, of tiles, of the text.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.forbidden import unseen
from spec.attention.clauses.softmax import seen
from spec.attention.domain import ADDITIVE, BOOLEAN, PLAIN, Problems
from spec.attention.notation import UNBOUNDED, Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.formats import rounded

WINDOWS = Problems(masks=PLAIN, windows=True)
SQUARE = Problems(masks=PLAIN, windows=True, square=True)
ALONE = Problems(masks=PLAIN, windows=True, square=True, causal=False)


def narrowed(problem: Problem) -> Problem:
    """The problem with a window of one key on each side at most."""
    left, right = (0 if bound is None else min(bound, 1) for bound in problem.window)
    return problem.but(window=(left, right))


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
    over=ALONE,
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
    "W5",
    over=ALONE,
    catches={
        "takes_a_bound_of_zero_for_none",
        "excludes_the_left_bound",
        "excludes_the_right_bound",
        "reaches_one_key_further_back",
        "skips_whole_tiles_alone",
    },
    proof=exactly.a_window_of_nothing_copies_the_values,
)
def the_narrowest_window_shows_a_query_itself(attention: Implementation, problem: Problem) -> None:
    """A window of no keys behind and none ahead leaves each query the key at its own place.

    o((0, 0))_i = v_i    for N = M
    """
    narrow = problem.but(window=(0, 0))

    o = attention.forward(narrow)

    equal(o, moves.of_one_key_head_each(narrow).v, within=rounding.of_output(narrow))


@clause(
    "W6",
    over=SQUARE,
    needs={Capability.FUTURE},
    catches={
        "ignores_the_window",
        "swaps_the_bounds_of_a_window",
        "excludes_the_left_bound",
        "skips_whole_tiles_alone",
        "shares_a_left_bound_among_rows",
    },
    effort=2,
    proof=exactly.a_window_is_a_part_of_the_keys,
)
def a_row_is_attention_over_its_window(attention: Implementation, problem: Problem) -> None:
    """A query with the keys of its window, and no window, is a row of the whole.

        o_t = o(q_t; k[t - L : t + R + 1], v[t - L : t + R + 1])

    This is how a decoder reads one token with a cache that holds no more than a window.
    """
    t = int(problem.chance().integers(problem.N))
    keys = np.flatnonzero(problem.allowed[0, 0, t])
    alone = moves.of_keys(moves.of_queries(problem, [t]), keys)
    alone = alone.but(causal=False, window=UNBOUNDED)

    whole, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, :, t : t + 1] + rounding.of_output(alone)
    equal(one, whole[:, :, t : t + 1], within=within)


@clause(
    "W7",
    over=Problems(masks=PLAIN, windows=True, least=(1, 1, 1, 2)),
    catches={"ignores_the_window", "keeps_the_first_key_in_sight", "skips_whole_tiles_alone"},
    effort=2,
)
def what_lies_outside_a_window_may_change(attention: Implementation, problem: Problem) -> None:
    """What keys and values hold outside of its window changes no bit of the output of a query.

    o(k, v)_t = o(k', v')_t    where they differ only at keys outside the window of t
    """
    t = int(problem.chance().integers(problem.N))
    outside = (~problem.allowed[0, 0, t])[:, None]
    k = rounded(1 - np.clip(problem.k, -1, 1), problem.dtype)
    other = problem.but(k=np.where(outside, k, problem.k), v=np.where(outside, 4.0, problem.v))

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:, :, t], before[:, :, t])


@clause(
    "W8",
    over=ALONE,
    catches={
        "swaps_the_bounds_of_a_window",
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


@clause("W9", over=WINDOWS, catches={"takes_windows_to_be_causal"})
def a_window_wider_than_the_text_hides_nothing(attention: Implementation, problem: Problem) -> None:
    """Bounds that reach beyond both ends of the text change nothing.

    o((N + M, N + M)) = o(no window)
    """
    most = problem.N + problem.M
    wide, plain = problem.but(window=(most, most)), problem.but(window=UNBOUNDED)

    o, p = attention.forward(wide), attention.forward(plain)

    equal(o, p, within=rounding.of_output(wide) + rounding.of_output(plain))


@clause(
    "W10",
    over=Problems(masks=PLAIN, windows=True, square=True, least=(1, 1, 64, 64)),
    catches={
        "bounds_the_first_tile_alone",
        "skips_the_tile_that_a_window_cuts",
        "skips_whole_tiles_alone",
        "shares_a_left_bound_among_rows",
    },
    effort=2,
)
def no_tile_is_lost(attention: Implementation, problem: Problem) -> None:
    """In a long text a window shows what it shows in a short one.

        o_i = sum_j a_ij v_j    over the keys j in the window of i, for any N = M

    Tiles that lie outside are skipped, and the two that an edge cuts are not.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W11",
    over=Problems(masks=PLAIN, windows=True, tiled="queries"),
    catches={"shares_a_left_bound_among_rows", "stops_windows_at_the_last_key"},
    effort=2,
)
def no_tile_of_queries_is_lost(attention: Implementation, problem: Problem) -> None:
    """Each of many queries has a window of its own.

        o_i = sum_j a_ij v_j    over the keys j in the window of i, for any N

    A bound that is computed once for a tile of queries is that of one of them.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W12",
    over=Problems(masks=PLAIN, windows=True, tiled="keys"),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_window"},
)
def what_no_window_reaches_has_no_gradient(attention: Implementation, problem: Problem) -> None:
    """A key that lies in no window gets no gradient, and its value none.

    dk_j = 0, dv_j = 0    where j lies outside the window of every query
    """
    narrow = narrowed(problem)
    hidden = unseen(narrow)[..., None]

    found = attention.backward(narrow)

    for gradient in (found.k, found.v):
        equal(np.where(hidden, gradient, 0), np.zeros(gradient.shape), within=0)


@clause(
    "W13",
    over=Problems(masks=PLAIN, windows=True, tiled="queries"),
    catches={"stops_windows_at_the_last_key", "ignores_the_window"},
)
def a_query_with_an_empty_window_is_idle(attention: Implementation, problem: Problem) -> None:
    """A query whose window holds no key returns zeros.

        o_i = 0    where i - L > M - 1

    There are such queries where there are more of them than keys; a window moved back to the last
    key shows them what is none of theirs.
    """
    narrow = narrowed(problem)

    o = attention.forward(narrow)

    idle = narrow.idle[..., None]
    equal(np.where(idle, o, 0), np.zeros(o.shape), within=0)


@clause(
    "W14",
    over=Problems(masks=PLAIN, windows=True, square=True, least=(1, 1, 2, 2)),
    catches={"keeps_the_first_key_in_sight", "ignores_the_window", "reaches_one_key_further_back"},
    effort=2,
    proof=exactly.what_has_left_the_window_is_forgotten,
)
def what_has_left_the_window_is_forgotten(attention: Implementation, problem: Problem) -> None:
    """Who begins to read a text later gives the same answers as soon as a window has passed.

        o(x[t:])_(i-t) = o(x)_i    for i >= t + L

    So a cache may forget what lies further back than L, and be overwritten in turn.
    """
    length = problem.N
    t = int(problem.chance().integers(1, length))
    left = min(problem.window[0] or 0, length - 1 - t)
    whole = problem.but(window=(left, problem.window[1]))
    later = moves.of_keys(moves.of_queries(whole, slice(t, None)), slice(t, None))

    o, p = attention.forward(whole), attention.forward(later)

    within = rounding.of_output(whole)[:, :, t + left :] + rounding.of_output(later)[:, :, left:]
    equal(p[:, :, left:], o[:, :, t + left :], within=within)


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
