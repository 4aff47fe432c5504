"""Section W, continued. Keys outside the window of a query have no influence on it.

So with a window, each query costs L + R + 1 keys, however long the sequence is. A decoder may
discard the keys that no later window contains. Both savings depend on correct edges: of the
window, of tiles and of the sequence.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.forbidden import unseen
from spec.attention.clauses.windows import ALONE, SQUARE
from spec.attention.contents import UNBOUNDED
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.formats import rounded


def narrowed(problem: Problem) -> Problem:
    """The problem with its window reduced to at most one key on each side."""
    left, right = (0 if bound is None else min(bound, 1) for bound in problem.window)
    return problem.but(window=(left, right))


def by_itself(problem: Problem) -> tuple[list[int], Problem]:
    """A query t chosen by the problem's seed, and the problem of t and its visible keys alone."""
    t = [problem.chance().below(problem.N)]
    keys = np.flatnonzero(problem.allowed[0, 0, t[0]])
    alone = moves.of_keys(moves.of_queries(problem, t), keys)
    return t, alone.but(causal=False, window=UNBOUNDED, first=0)


def changed_out_of_sight(problem: Problem) -> tuple[int, Problem]:
    """A query t chosen by the problem's seed, and the problem with other keys and values at all
    positions that are masked for t.
    """
    t = problem.chance().below(problem.N)
    outside = (~problem.allowed[0, 0, t])[:, None]
    k = rounded(1 - np.clip(problem.k, -1, 1), problem.dtype)
    changed = problem.but(k=np.where(outside, k, problem.k), v=np.where(outside, 4.0, problem.v))
    return t, changed


@clause(
    "W5",
    over=replace(ALONE, firsts=False, sinks=False, segments=False),
    catches={
        "takes_a_bound_of_zero_for_none",
        "excludes_the_left_bound",
        "excludes_the_right_bound",
        "reaches_one_key_further_back",
        "skips_whole_tiles_alone",
    },
    proof=exactly.a_window_of_nothing_copies_the_values,
)
def window_of_one_key_copies_the_values(attention: Implementation, problem: Problem) -> None:
    """With the window (0, 0), each query attends only to the key at its own position, and returns
    the value of that key.

        o(window = (0, 0))_i = v_i    for N = M, without leading keys
    """
    narrow = problem.but(window=(0, 0))

    o = attention.forward(narrow)

    equal(o, moves.of_one_key_head_each(narrow).v, within=rounding.of_output(narrow))


@clause(
    "W6",
    over=replace(SQUARE, slopes=False, segments=False),
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
def query_row_equals_attention_over_its_window(attention: Implementation, problem: Problem) -> None:
    """The output of a query equals attention over its visible keys, without a window or causality.

        o_t = o(q_t; k[J], v[J])    J: the keys j with t - L <= j <= t + R, and j <= t if causal

    Leading keys belong to J as well (W18). A decoder computes one token in this way, with a cache
    that holds only the keys J.
    """
    t, alone = by_itself(problem)

    whole, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, :, t] + rounding.of_output(alone)
    equal(one, whole[:, :, t], within=within)


@clause(
    "W7",
    over=Problems(segments=False, positions=False, masks=PLAIN, windows=True, least=(1, 1, 1, 2)),
    catches={"ignores_the_window", "keeps_the_first_key_in_sight", "skips_whole_tiles_alone"},
    promise="length",
)
def keys_outside_window_do_not_change_output(attention: Implementation, problem: Problem) -> None:
    """Changing keys and values that a window masks for a query changes no bit of its output.

        o(k, v)_t = o(k', v')_t    if (k, v) and (k', v') differ only at keys that are masked for t

    A masked key has a weight of exactly zero. A kernel that skips whole tiles but does not mask the
    tiles at the edges of the window gives weights to keys outside it.
    """
    t, other = changed_out_of_sight(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:, :, t], before[:, :, t])


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
def windows_are_correct_on_long_sequences(attention: Implementation, problem: Problem) -> None:
    """In a long sequence, the window of a query has the same bounds as in a short one.

        o_i = sum_j a_ij v_j    over the keys j that are visible to query i, for any N = M

    A kernel skips the tiles of keys that lie outside the window. It must not skip the two tiles
    that contain the edges of the window.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W11",
    over=Problems(masks=PLAIN, windows=True, tiled="queries"),
    catches={
        "shares_a_left_bound_among_rows",
        "stops_windows_at_the_last_key",
        "switches_beyond_eight_queries",
    },
    effort=2,
)
def windows_are_correct_with_many_queries(attention: Implementation, problem: Problem) -> None:
    """If there are many queries, each of them still has its own window.

        o_i = sum_j a_ij v_j    over the keys j that are visible to query i, for any N

    A bound that is computed once for a tile of queries is correct for only one of them.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W12",
    over=Problems(masks=PLAIN, windows=True, tiled="keys"),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_window"},
)
def key_in_no_window_receives_no_gradient(attention: Implementation, problem: Problem) -> None:
    """A key that the window masks for every query receives no gradient, and neither does its value.

    dk_j = 0, dv_j = 0    where j lies outside the window of every query and is no leading key
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
def query_with_empty_window_returns_zero(attention: Implementation, problem: Problem) -> None:
    """A query returns zeros if its window contains no key and no leading key is visible to it.

        o_i = 0    where no key j has p_i - L <= r_j <= p_i + R, and no leading key is visible

    Here p_i and r_j are the positions of query i and key j. This happens, for example, where there
    are more queries than keys. The bug is to move the window back to the last key, so that such a
    query attends to keys outside its window.
    """
    narrow = narrowed(problem)

    o = attention.forward(narrow)

    idle = narrow.idle[..., None]
    equal(np.where(idle, o, 0), np.zeros(o.shape), within=0)


@clause(
    "W14",
    over=Problems(
        positions=False, masks=PLAIN, windows=True, firsts=False, square=True, least=(1, 1, 2, 2)
    ),
    catches={"keeps_the_first_key_in_sight", "ignores_the_window", "reaches_one_key_further_back"},
    effort=2,
    proof=exactly.what_has_left_the_window_is_forgotten,
)
def prefix_before_the_window_can_be_dropped(attention: Implementation, problem: Problem) -> None:
    """Dropping the first t tokens of a sequence changes no output from position t + L on.

        o(x[t:])_(i-t) = o(x)_i    for i >= t + L, without leading keys; x: all inputs

    So a cache may discard keys that are more than L positions back, and reuse their memory.
    """
    length = problem.N
    t = problem.chance().randrange(1, length)
    left = min(problem.window[0] or 0, length - 1 - t)
    whole = problem.but(window=(left, problem.window[1]))
    later = moves.of_keys(moves.of_queries(whole, slice(t, None)), slice(t, None))

    o, p = attention.forward(whole), attention.forward(later)

    within = rounding.of_output(whole)[:, :, t + left :] + rounding.of_output(later)[:, :, left:]
    equal(p[:, :, left:], o[:, :, t + left :], within=within)
