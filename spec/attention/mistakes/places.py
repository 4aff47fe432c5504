"""Known bugs of positions: row numbers are used instead, or positions overflow their format.

The row number of a token is its position only if a sequence is computed in one call. With a cache,
in chunks, with left padding or on several machines it is not, and no shape check fails. A position
is also a number in a format, which may be too small for it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.contents import Window
from spec.attention.mistakes.making import RIGHT, wrong
from spec.attention.mistakes.placing import Pair, Placed, ahead, before, in_rows, place, rows
from spec.attention.mistakes.steps import slant
from spec.formats import rounded
from spec.notation import Array

OFF = "positions that differ from row numbers"
COUNTED = "(causal or a window or ALiBi slopes)"


def read(of: Callable[..., Any], given: Any) -> Placed:
    """The given positions, (B, N) and (B, M), as changed by `of`; none if none are given."""
    p, r = place(given)
    return (None, None) if p is None or r is None else of(p, r)


def forgotten(where: Callable[[Any], bool], given: Any) -> Placed:
    """No positions if `where` holds, and the given positions otherwise."""
    return (None, None) if where(given) else place(given)


@wrong("place", incident="BUG-44", citation="trymirai/lalamo#200", where=OFF)
def ignores_the_positions(_: Any) -> Placed:
    """Accepts positions but ignores them, and uses row numbers instead."""
    return None, None


@wrong("place", incident="BUG-44", where="query positions that differ from row numbers")
def ignores_the_positions_of_queries(given: Any) -> Placed:
    """Uses row numbers instead of the positions of queries; those of keys are used."""
    return read(lambda _, r: (rows(given)[0], r), given)


@wrong(
    "place",
    incident="BUG-44",
    citation="onnx/onnx#8054",
    where="key positions that differ from row numbers",
)
def ignores_the_positions_of_keys(given: Any) -> Placed:
    """Uses row numbers instead of the positions of keys; those of queries are used."""
    return read(lambda p, _: (p, rows(given)[1]), given)


@wrong("place", incident="plausible", where=f"{OFF} and not (query positions and key positions)")
def wants_positions_of_both_sides(given: Any) -> Placed:
    """Ignores positions unless both queries and keys have them."""
    return forgotten(lambda x: x.query_positions is None or x.key_positions is None, given)


@wrong("place", incident="BUG-44", where=f"{OFF} and a mask")
def forgets_positions_beside_a_mask(given: Any) -> Placed:
    """Ignores positions when a mask is given, as if the mask included them."""
    return forgotten(lambda x: x.attn_mask is not None, given)


@wrong("place", incident="BUG-44", where=f"{OFF} and segments")
def forgets_positions_beside_segments(given: Any) -> Placed:
    """Ignores positions when segments are given, and uses row numbers instead."""
    return forgotten(lambda x: x.query_segments is not None, given)


@wrong("place", incident="BUG-44", where=f"{OFF} and not causal")
def has_positions_where_it_is_causal(given: Any) -> Placed:
    """Ignores positions unless the call is causal, even with a window or ALiBi slopes."""
    return forgotten(lambda x: not x.is_causal, given)


@wrong("place", incident="BUG-03", where=f"positions and N != M and {COUNTED}")
def adds_the_corner_to_positions(given: Any) -> Placed:
    """Adds M - N to the positions of queries, which must be used as they are given."""
    return read(lambda p, r: (p + r.shape[1] - p.shape[1], r), given)


@wrong("place", incident="BUG-44", where=f"positions and N = 1 and {COUNTED}")
def has_a_single_query_stand_at_the_end(given: Any) -> Placed:
    """Uses position M - 1 for a single query instead of its given position."""

    def last(p: Array, r: Array) -> Pair:
        return (np.tile(np.int64(r.shape[1] - 1), p.shape) if p.shape[1] == 1 else p), r

    return read(last, given)


@wrong("place", incident="plausible", where="positions that differ from row numbers and B > 1")
def uses_the_positions_of_the_first_sequence(given: Any) -> Placed:
    """Uses the positions of the first sequence for the whole batch."""
    return read(lambda p, r: (0 * p + p[:1], 0 * r + r[:1]), given)


@wrong("place", incident="plausible", where="query positions other than key positions")
def uses_the_positions_of_queries_for_keys(given: Any) -> Placed:
    """Uses the positions of queries for keys as well, as in self-attention."""
    return read(lambda p, r: (p, np.resize(p, r.shape)), given)


@wrong("place", incident="plausible", where="query positions other than key positions")
def uses_the_positions_of_keys_for_queries(given: Any) -> Placed:
    """Uses the positions of keys for queries as well."""
    return read(lambda p, r: (np.resize(r, p.shape), r), given)


@wrong(
    "place", incident="BUG-44", where="query positions and positions that differ from row numbers"
)
def counts_queries_from_the_first(given: Any) -> Placed:
    """Reads the position of the first query only, and counts the others up from it."""
    return read(lambda p, r: (p[:, :1] + np.arange(p.shape[1]), r), given)


@wrong("place", incident="BUG-44", where="key positions with jumps")
def counts_keys_from_the_first(given: Any) -> Placed:
    """Reads the position of the first key only, and counts the others up from it."""
    return read(lambda p, r: (p, r[:, :1] + np.arange(r.shape[1])), given)


@wrong("place", incident="plausible", where="positions beyond the last row")
def stops_positions_at_the_last_row(given: Any) -> Placed:
    """Clips positions of queries and keys to at most M - 1."""
    return read(lambda p, r: (np.minimum(p, r.shape[1] - 1), np.minimum(r, r.shape[1] - 1)), given)


@wrong("place", incident="plausible", where=f"positions beyond 256 and {COUNTED}")
def keeps_positions_in_bfloat16(given: Any) -> Placed:
    """Stores positions in bfloat16, in which 257 becomes 256."""
    return read(lambda p, r: (of_format(p, "bfloat16"), of_format(r, "bfloat16")), given)


@wrong("place", incident="plausible", where=f"positions beyond 10000000 and {COUNTED}")
def keeps_positions_in_float32(given: Any) -> Placed:
    """Stores positions in float32, in which 2^24 + 1 becomes 2^24."""
    return read(lambda p, r: (of_format(p, "float32"), of_format(r, "float32")), given)


def of_format(x: Array, dtype: str) -> Array:
    """Integers rounded to a floating-point format."""
    return rounded(x.astype(np.float64), dtype).astype(np.int64)


@wrong("place", incident="plausible", where=f"positions beyond 30000 and {COUNTED}")
def keeps_positions_in_16_bits(given: Any) -> Placed:
    """Clips positions to the range of 16-bit integers, -32768 to 32767."""
    return read(lambda *both: tuple(np.clip(x, -32768, 32767) for x in both), given)


@wrong("place", incident="plausible", where=f"negative positions and {COUNTED}")
def takes_positions_without_a_sign(given: Any) -> Placed:
    """Reads positions as unsigned 32-bit integers, so that -1 becomes 4294967295."""
    return read(lambda p, r: (p % 2**32, r % 2**32), given)


@wrong("before", incident="BUG-06", where="positions and causal")
def hides_what_stands_at_the_same_place(given: Any) -> Array:
    """Masks keys at the position of the query: tests r < p instead of r <= p."""
    return ahead(given) < 0


@wrong(
    "before", incident="BUG-44", citation="gittensor-ai-lab/sparkinfer#3", where=f"{OFF} and causal"
)
def has_positions_for_windows_alone(given: Any) -> Array:
    """Applies causality by row numbers instead of positions; windows and slopes use positions."""
    return before(in_rows(given))


@wrong("before", incident="plausible", where="positions out of order and causal")
def takes_keys_to_be_in_order(given: Any) -> Array:
    """Counts the keys in a query's past, and attends to that many from the start of the array."""
    seen = before(given)
    return np.arange(seen.shape[-1]) < seen.sum(axis=-1, keepdims=True)


@wrong("before", incident="plausible", where="negative positions and key positions and causal")
def takes_places_below_zero_for_padding(given: Any) -> Array:
    """Masks keys at negative positions in causal calls, as if they were padding tokens."""
    return before(given) & (given.key_positions >= 0)[:, None, None, :]


@wrong(
    "before",
    incident="BUG-44",
    where="causal and positions that differ from row numbers and M > 16",
)
def reads_tiles_up_to_that_of_the_row(given: Any) -> Array:
    """In causal calls, stops after the tile of 16 keys that contains the query's row number."""
    i, j = np.arange(given.query.shape[2])[:, None], np.arange(given.key.shape[2])
    return before(given) & (j // 16 <= i // 16)


@wrong("around", incident="BUG-44", citation="trymirai/lalamo#200", where=f"{OFF} and a window")
def has_positions_for_causality_alone(given: Any, window: Window) -> Array:
    """Applies windows by row numbers instead of positions; causality uses positions."""
    return RIGHT.around(in_rows(given), window)


@wrong("around", incident="BUG-44", where=f"{OFF} and a window and a length above 16")
def visits_the_tiles_of_a_window_of_rows(given: Any, window: Window) -> Array:
    """Reads only the tiles of 16 keys that a window by row numbers would reach."""
    seen, (left, right) = RIGHT.around(given, window), window
    i, j = np.arange(given.query.shape[2])[:, None], np.arange(given.key.shape[2])
    seen = seen if left is None else seen & (j // 16 >= (i - left) // 16)
    return seen if right is None else seen & (j // 16 <= (i + right) // 16)


@wrong("around", incident="plausible", where="positions and a left window bound and not causal")
def takes_distances_without_a_sign(given: Any, window: Window) -> Array:
    """Computes p - r as an unsigned number, so that a left window bound masks all keys ahead."""
    left, right = window
    if left is None:
        return RIGHT.around(given, window)
    return RIGHT.around(given, (None, right)) & (-ahead(given) % 2**32 <= left)


@wrong("around", incident="plausible", where="positions out of order and a window")
def takes_the_keys_of_a_window_to_be_in_order(given: Any, window: Window) -> Array:
    """Attends to all rows from the first to the last key in a window, as if keys were sorted."""
    seen = np.broadcast_to(RIGHT.around(given, window), ahead(given).shape)
    started = np.logical_or.accumulate(seen, axis=-1)
    unfinished = np.logical_or.accumulate(seen[..., ::-1], axis=-1)[..., ::-1]
    return started & unfinished


@wrong("slant", incident="BUG-42", where=f"{OFF} and ALiBi slopes")
def measures_slopes_by_rows(s: Array, sigma: float, given: Any) -> Array:
    """Computes ALiBi distances from row numbers instead of positions."""
    return slant(s, sigma, given if given.query_positions is None else in_rows(given))
