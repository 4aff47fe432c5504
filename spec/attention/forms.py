"""Features of the options of a problem: masks, soft-caps, sinks, segments, positions."""

import itertools
from collections.abc import Callable

import numpy as np

from spec.attention import definition
from spec.attention.contents import UNBOUNDED
from spec.attention.moves import placed
from spec.attention.notation import Problem
from spec.notation import Array


def added(problem: Problem) -> Array:
    """The finite numbers other than zero that an additive mask adds."""
    mask = problem.mask
    if mask is None or mask.dtype == bool:
        return np.zeros(0)
    return np.asarray(mask[np.isfinite(mask) & (mask != 0)])


def axis(place: int) -> Callable[[Problem], bool]:
    """A test: whether the mask is written out along an axis, counted from the right."""
    return lambda p: p.mask is not None and p.mask.ndim >= place and p.mask.shape[-place] > 1


def in_the_future(problem: Problem) -> bool:
    """Whether causality masks a key that nothing else masks."""
    return problem.causal and _shows(problem, causal=False)


def _shows(problem: Problem, **options: object) -> bool:
    """Whether a masked key would be visible with other options."""
    return bool((problem.but(**options).allowed & ~problem.allowed).any())


def telling_mask(problem: Problem) -> bool:
    """Whether the mask alone masks some key, or adds to the score of a visible one."""
    if problem.mask is None:
        return False
    return _shows(problem, mask=None) or bool((problem.but(slopes=None).bias != 0).any())


def beside_the_window(side: int, problem: Problem) -> bool:
    """Whether the left bound (side 0) or the right one (1) alone masks some key."""
    if problem.window[side] is None:
        return False
    left, right = problem.window
    return _shows(problem, window=(left, None) if side else (None, right))


def kept(more: int, problem: Problem) -> bool:
    """Whether leading keys make visible what a window masks, or one more of them would."""
    if not problem.first:
        return False
    if more:
        return _shows(problem, first=problem.first + 1)
    return bool((problem.allowed & ~problem.but(first=0).allowed).any())


def at_the_bound(side: int, problem: Problem) -> bool:
    """Whether a visible key lies exactly at the left bound (side 0), or at the right one (1)."""
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
    """Whether an axis of the mask is broadcast behind one that is written out."""
    if problem.mask is None:
        return False
    full = problem.allowed.shape[4 - problem.mask.ndim :]
    lengths = zip(problem.mask.shape, full, strict=True)
    behind = itertools.dropwhile(lambda pair: pair[0] == 1, lengths)
    return any(length != whole for length, whole in behind)


def texts_apart(problem: Problem) -> bool:
    """Whether segments mask a key."""
    return problem.query_segments is not None and not problem.same_text.all()


def out_of_order(problem: Problem) -> bool:
    """Whether a token has a lower segment than one before it; padding does not count."""
    highest = ((x, np.maximum.accumulate(x, axis=-1)) for x in _segments(problem))
    return any(bool(((x >= 0) & (x < before)).any()) for x, before in highest)


def padding(problem: Problem) -> bool:
    """Whether a segment is negative."""
    return any(bool((x < 0).any()) for x in _segments(problem))


def _segments(problem: Problem) -> tuple[Array, ...]:
    """The segments of queries and of keys, if there are any."""
    both = problem.query_segments, problem.key_segments
    return tuple(x for x in both if x is not None)


def padding_on_both_sides(problem: Problem) -> bool:
    """Whether a query and a key have negative segments."""
    given = _segments(problem)
    return bool(given) and all(bool((x < 0).any()) for x in given)


def added_below(limit: int) -> Callable[[Problem], bool]:
    """A test: whether a finite bias is lower than the limit."""
    return lambda p: bool((added(p) < limit).any())


def off_their_rows(problem: Problem) -> bool:
    """Whether given positions are used, and change distances or leading keys."""
    if not _by_positions(problem):
        return False
    rows = problem.but(query_positions=None, key_positions=None)
    as_far = (problem.ahead("top-left") == rows.ahead("top-left")).all()
    return not (as_far and (problem.begins == rows.begins).all())


def queries_off_their_rows(problem: Problem) -> bool:
    """Whether given positions are used, and those of queries are not the row numbers."""
    return _by_positions(problem) and _off(problem.query_positions)


def keys_off_their_rows(problem: Problem) -> bool:
    """Whether given positions are used, and those of keys are not the row numbers."""
    return _by_positions(problem) and _off(problem.key_positions)


def keys_out_of_step(problem: Problem) -> bool:
    """Whether given positions are used, and those of keys do not count up by one."""
    r = problem.key_positions
    return _by_positions(problem) and r is not None and bool((np.diff(r, axis=-1) != 1).any())


def places_apart(problem: Problem) -> bool:
    """Whether given positions are used, and those of queries and of keys differ."""
    if not _by_positions(problem):
        return False
    p, r = _positions(placed(problem))
    return problem.N != problem.M or bool((p != r).any())


def beyond_the_rows(problem: Problem) -> bool:
    """Whether given positions are used, and one lies behind the last row of keys."""
    positions = _positions(placed(problem))
    return _by_positions(problem) and any(bool((x >= problem.M).any()) for x in positions)


def places_out_of_order(problem: Problem) -> bool:
    """Whether a key comes before one with a lower position."""
    r = problem.key_positions
    return r is not None and bool((np.diff(r, axis=-1) < 0).any())


def below_zero(problem: Problem) -> bool:
    """Whether a position is negative."""
    return any(bool((x < 0).any()) for x in _positions(problem))


def beyond(limit: int) -> Callable[[Problem], bool]:
    """A test: whether a position is further from 0 than the limit."""
    return lambda p: any(bool((np.abs(x) > limit).any()) for x in _positions(p))


def numbers_beyond(limit: int) -> Callable[[Problem], bool]:
    """A test: whether a segment is above the limit, such as the largest number of 8 bits."""
    return lambda p: any(bool((x > limit).any()) for x in _segments(p))


def alike_in(count: int) -> Callable[[Problem], bool]:
    """A test: whether segments of a query and a key differ by a multiple of `count`."""

    def alike(problem: Problem) -> bool:
        if not texts_apart(problem):
            return False
        mine, theirs = _segments(problem)
        apart = mine[:, :, None] - theirs[:, None, :]
        return bool(((apart != 0) & (apart % count == 0)).any())

    return alike


def beyond_the_cap(problem: Problem) -> bool:
    """Whether the product of a query and a visible key is larger than the soft-cap."""
    if problem.softcap is None:
        return False
    t = definition.products(problem)[problem.allowed]
    return bool((np.abs(t) > problem.softcap).any())


def sees_a_sink_alone(problem: Problem) -> bool:
    """Whether a query with a sink may attend to no key."""
    return problem.sinks is not None and bool((~problem.allowed.any(-1) & ~problem.idle).any())


def _by_positions(problem: Problem) -> bool:
    """Whether positions are given, and causality, a window or slopes use them."""
    counted = problem.causal or problem.window != UNBOUNDED or problem.slopes is not None
    return counted and problem.placed


def _off(positions: Array | None) -> bool:
    return positions is not None and bool((positions != np.arange(positions.shape[-1])).any())


def _positions(problem: Problem) -> tuple[Array, ...]:
    """The positions of queries and of keys, as far as they are given."""
    both = problem.query_positions, problem.key_positions
    return tuple(x for x in both if x is not None)


def idle(problem: Problem, by: bool) -> bool:
    """Whether booleans mask a query fully (`by`), or only -inf does (not `by`)."""
    if not problem.idle.any():
        return False
    additive = problem.mask is not None and problem.mask.dtype != bool
    told = problem.but(mask=None) if additive else problem
    return bool(told.idle.any()) if by else bool((problem.idle & ~told.idle).any())
