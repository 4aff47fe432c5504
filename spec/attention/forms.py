"""What is special about an option: axes of a mask, what it adds, caps, sinks, texts, places."""

import itertools
from collections.abc import Callable

import numpy as np

from spec.attention import definition
from spec.attention.moves import placed
from spec.attention.notation import UNBOUNDED, Problem
from spec.notation import Array


def added(problem: Problem) -> Array:
    """The finite numbers that an additive mask adds, and not zero."""
    mask = problem.mask
    if mask is None or mask.dtype == bool:
        return np.zeros(0)
    return np.asarray(mask[np.isfinite(mask) & (mask != 0)])


def axis(place: int) -> Callable[[Problem], bool]:
    """Whether the mask is written out along an axis, counted from the right."""
    return lambda p: p.mask is not None and p.mask.ndim >= place and p.mask.shape[-place] > 1


def in_the_future(problem: Problem) -> bool:
    """Whether causality hides a key that nothing else does."""
    return problem.causal and _shows(problem, causal=False)


def _shows(problem: Problem, **options: object) -> bool:
    """Whether a key that is hidden would not be under other options."""
    return bool((problem.but(**options).allowed & ~problem.allowed).any())


def telling_mask(problem: Problem) -> bool:
    """Whether a mask hides a key that nothing else does, or adds to the score of one seen."""
    if problem.mask is None:
        return False
    return _shows(problem, mask=None) or bool((problem.but(slopes=None).bias != 0).any())


def beside_the_window(side: int, problem: Problem) -> bool:
    """Whether the left bound (side 0) or the right one (1) hides a key that nothing else does."""
    if problem.window[side] is None:
        return False
    left, right = problem.window
    return _shows(problem, window=(left, None) if side else (None, right))


def kept(more: int, problem: Problem) -> bool:
    """Whether first keys show one that a window hides, or would if there was one more of them."""
    if not problem.first:
        return False
    if more:
        return _shows(problem, first=problem.first + 1)
    return bool((problem.allowed & ~problem.but(first=0).allowed).any())


def at_the_bound(side: int, problem: Problem) -> bool:
    """Whether a key is seen that lies just at the left bound (side 0), or at the right one (1)."""
    bound = problem.window[side]
    if bound is None:
        return False
    ahead = problem.ahead(problem.window_corner or problem.corner)
    return bool((problem.allowed & (ahead == (bound if side else -bound))).any())


def of_padding(problem: Problem) -> bool:
    """Whether the mask has one row for all queries."""
    mask = problem.mask
    return mask is not None and (mask.ndim < 2 or mask.shape[-2] == 1)


def broadcast_inside(problem: Problem) -> bool:
    """Whether an axis of the mask stands for more, behind one that is written out."""
    if problem.mask is None:
        return False
    full = problem.allowed.shape[4 - problem.mask.ndim :]
    lengths = zip(problem.mask.shape, full, strict=True)
    behind = itertools.dropwhile(lambda pair: pair[0] == 1, lengths)
    return any(length != whole for length, whole in behind)


def texts_apart(problem: Problem) -> bool:
    """Whether a segment hides a key."""
    return problem.query_segments is not None and not problem.same_text.all()


def out_of_order(problem: Problem) -> bool:
    """Whether a token is of a text with a lower number than one before it; padding is of none."""
    highest = ((x, np.maximum.accumulate(x, axis=-1)) for x in _segments(problem))
    return any(bool(((x >= 0) & (x < before)).any()) for x, before in highest)


def padding(problem: Problem) -> bool:
    """Whether a segment is negative."""
    return any(bool((x < 0).any()) for x in _segments(problem))


def _segments(problem: Problem) -> tuple[Array, ...]:
    """Those of queries and of keys, if there are any."""
    both = problem.query_segments, problem.key_segments
    return tuple(x for x in both if x is not None)


def padding_on_both_sides(problem: Problem) -> bool:
    """Whether a segment of a query is negative, and one of a key."""
    given = _segments(problem)
    return bool(given) and all(bool((x < 0).any()) for x in given)


def added_below(limit: int) -> Callable[[Problem], bool]:
    """Whether a finite bias is lower than that."""
    return lambda p: bool((added(p) < limit).any())


def off_their_rows(problem: Problem) -> bool:
    """Whether something goes by positions, which are other places than those of the rows."""
    if not _by_positions(problem):
        return False
    rows = problem.but(query_positions=None, key_positions=None)
    as_far = (problem.ahead("top-left") == rows.ahead("top-left")).all()
    return not (as_far and (problem.begins == rows.begins).all())


def queries_off_their_rows(problem: Problem) -> bool:
    """Whether something goes by positions of queries that are not the numbers of their rows."""
    return _by_positions(problem) and _off(problem.query_positions)


def keys_off_their_rows(problem: Problem) -> bool:
    """Whether something goes by positions of keys that are not the numbers of their rows."""
    return _by_positions(problem) and _off(problem.key_positions)


def keys_out_of_step(problem: Problem) -> bool:
    """Whether something goes by positions of keys that do not count up by one."""
    r = problem.key_positions
    return _by_positions(problem) and r is not None and bool((np.diff(r, axis=-1) != 1).any())


def places_apart(problem: Problem) -> bool:
    """Whether something goes by positions, and those of queries and of keys are not the same."""
    if not _by_positions(problem):
        return False
    p, r = _positions(placed(problem))
    return problem.N != problem.M or bool((p != r).any())


def beyond_the_rows(problem: Problem) -> bool:
    """Whether something goes by positions, and a token stands behind the last row of keys."""
    positions = _positions(placed(problem))
    return _by_positions(problem) and any(bool((x >= problem.M).any()) for x in positions)


def places_out_of_order(problem: Problem) -> bool:
    """Whether a key stands before one with a lower number."""
    r = problem.key_positions
    return r is not None and bool((np.diff(r, axis=-1) < 0).any())


def below_zero(problem: Problem) -> bool:
    """Whether a token stands at a place below zero."""
    return any(bool((x < 0).any()) for x in _positions(problem))


def beyond(limit: int) -> Callable[[Problem], bool]:
    """Whether a token stands further from 0 than that."""
    return lambda p: any(bool((np.abs(x) > limit).any()) for x in _positions(p))


def numbers_beyond(limit: int) -> Callable[[Problem], bool]:
    """Whether a token is of a text with a number above that, which may be all that bits hold."""
    return lambda p: any(bool((x > limit).any()) for x in _segments(p))


def alike_in(count: int) -> Callable[[Problem], bool]:
    """Whether a query and a key of two texts have numbers that differ by a multiple of that."""

    def alike(problem: Problem) -> bool:
        if not texts_apart(problem):
            return False
        mine, theirs = _segments(problem)
        apart = mine[:, :, None] - theirs[:, None, :]
        return bool(((apart != 0) & (apart % count == 0)).any())

    return alike


def beyond_the_cap(problem: Problem) -> bool:
    """Whether a product of a key that is seen is larger than the cap."""
    if problem.softcap is None:
        return False
    t = definition.products(problem)[problem.allowed]
    return bool((np.abs(t) > problem.softcap).any())


def sees_a_sink_alone(problem: Problem) -> bool:
    """Whether every key is hidden from a query that has a sink."""
    return problem.sinks is not None and bool((~problem.allowed.any(-1) & ~problem.idle).any())


def _by_positions(problem: Problem) -> bool:
    """Whether positions are given, and something goes by them."""
    counted = problem.causal or problem.window != UNBOUNDED or problem.slopes is not None
    return counted and problem.placed


def _off(positions: Array | None) -> bool:
    return positions is not None and bool((positions != np.arange(positions.shape[-1])).any())


def _positions(problem: Problem) -> tuple[Array, ...]:
    """Those of queries and of keys, as far as they are given."""
    both = problem.query_positions, problem.key_positions
    return tuple(x for x in both if x is not None)


def idle(problem: Problem, by: bool) -> bool:
    """Whether truth values hide all keys from a query; else whether it takes -inf."""
    if not problem.idle.any():
        return False
    additive = problem.mask is not None and problem.mask.dtype != bool
    told = problem.but(mask=None) if additive else problem
    return bool(told.idle.any()) if by else bool((problem.idle & ~told.idle).any())
