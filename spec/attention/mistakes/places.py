"""Where tokens stand, and who counts rows instead.

A row is the place of its token as long as a text is read at a stroke. Behind a cache, in chunks,
padded to the left or dealt out to several machines it is not, and no shape objects; and a position
is a number like any other, with a format that it may be too large for.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.mistakes.making import RIGHT, wrong
from spec.attention.mistakes.placing import Pair, Placed, ahead, before, in_rows, place, rows
from spec.attention.mistakes.steps import slant
from spec.attention.notation import Window
from spec.formats import rounded
from spec.notation import Array

OFF = "places off their rows"
COUNTED = "(causal or a window or slopes)"


def read(of: Callable[..., Any], given: Any) -> Placed:
    """The step with other positions (B, N) and (B, M) in the place of those that there are."""
    p, r = place(given)
    return (None, None) if p is None or r is None else of(p, r)


def forgotten(where: Callable[[Any], bool], given: Any) -> Placed:
    """The step without positions where they are forgotten, and with them elsewhere."""
    return (None, None) if where(given) else place(given)


@wrong("place", incident="I44", citation="trymirai/lalamo#200", where=OFF)
def ignores_the_positions(_: Any) -> Placed:
    """Takes positions, and hands them on to nobody."""
    return None, None


@wrong("place", incident="I44", where="queries off their rows")
def ignores_the_positions_of_queries(given: Any) -> Placed:
    """Knows where keys stand, and numbers the queries."""
    return read(lambda _, r: (rows(given)[0], r), given)


@wrong("place", incident="I44", citation="onnx/onnx#8054", where="keys off their rows")
def ignores_the_positions_of_keys(given: Any) -> Placed:
    """Knows how far a text has been read, and numbers the keys."""
    return read(lambda p, _: (p, rows(given)[1]), given)


@wrong(
    "place",
    incident="plausible",
    where=f"{OFF} and not (positions of queries and positions of keys)",
)
def wants_positions_of_both_sides(given: Any) -> Placed:
    """Tests `if p is not None and r is not None`, and else numbers both."""
    return forgotten(lambda x: x.query_positions is None or x.key_positions is None, given)


@wrong("place", incident="I44", where=f"{OFF} and a mask")
def forgets_positions_beside_a_mask(given: Any) -> Placed:
    """Takes a mask that is given to have been made of positions."""
    return forgotten(lambda x: x.attn_mask is not None, given)


@wrong("place", incident="I44", where=f"{OFF} and segments")
def forgets_positions_beside_segments(given: Any) -> Placed:
    """Has a path of its own for packed texts, which counts."""
    return forgotten(lambda x: x.query_segments is not None, given)


@wrong("place", incident="I44", where=f"{OFF} and not causal")
def has_positions_where_it_is_causal(given: Any) -> Placed:
    """Reads positions where the diagonal is computed, and so only if there is one."""
    return forgotten(lambda x: not x.is_causal, given)


@wrong("place", incident="I03", where=f"positions and N != M and {COUNTED}")
def adds_the_corner_to_positions(given: Any) -> Placed:
    """Moves the queries by M - N, though they know their places."""
    return read(lambda p, r: (p + r.shape[1] - p.shape[1], r), given)


@wrong("place", incident="I44", where=f"positions and N = 1 and {COUNTED}")
def has_a_single_query_stand_at_the_end(given: Any) -> Placed:
    """Decodes with a kernel for one query, which is the last of all tokens."""

    def last(p: Array, r: Array) -> Pair:
        return (np.tile(np.int64(r.shape[1] - 1), p.shape) if p.shape[1] == 1 else p), r

    return read(last, given)


@wrong("place", incident="plausible", where="places off their rows and B > 1")
def uses_the_positions_of_the_first_sequence(given: Any) -> Placed:
    """Has one row of positions for the whole batch, as if nothing were padded."""
    return read(lambda p, r: (0 * p + p[:1], 0 * r + r[:1]), given)


@wrong("place", incident="plausible", where="places apart")
def uses_the_positions_of_queries_for_keys(given: Any) -> Placed:
    """Has one array, as in self-attention."""
    return read(lambda p, r: (p, np.resize(p, r.shape)), given)


@wrong("place", incident="plausible", where="places apart")
def uses_the_positions_of_keys_for_queries(given: Any) -> Placed:
    """Hands the same pointer over twice, the second one."""
    return read(lambda p, r: (np.resize(r, p.shape), r), given)


@wrong("place", incident="I44", where="positions of queries and places off their rows")
def counts_queries_from_the_first(given: Any) -> Placed:
    """Reads one position of each sequence, where a chunk begins."""
    return read(lambda p, r: (p[:, :1] + np.arange(p.shape[1]), r), given)


@wrong("place", incident="I44", where="keys out of step")
def counts_keys_from_the_first(given: Any) -> Placed:
    """Reads one position of each sequence, where its padding ends."""
    return read(lambda p, r: (p, r[:, :1] + np.arange(r.shape[1])), given)


@wrong("place", incident="plausible", where="places beyond the rows")
def stops_positions_at_the_last_row(given: Any) -> Placed:
    """Has no place for a position behind the last of the keys that it was given."""
    return read(lambda p, r: (np.minimum(p, r.shape[1] - 1), np.minimum(r, r.shape[1] - 1)), given)


@wrong("place", incident="plausible", where=f"places beyond 256 and {COUNTED}")
def keeps_positions_in_bfloat16(given: Any) -> Placed:
    """Casts all that it is given to the format of the model, in which 257 is 256."""
    return read(lambda p, r: (of_format(p, "bfloat16"), of_format(r, "bfloat16")), given)


@wrong("place", incident="plausible", where=f"places beyond 10000000 and {COUNTED}")
def keeps_positions_in_float32(given: Any) -> Placed:
    """Has floats for positions, as rotations have them, in which 2^24 + 1 is 2^24."""
    return read(lambda p, r: (of_format(p, "float32"), of_format(r, "float32")), given)


def of_format(x: Array, dtype: str) -> Array:
    """Integers as they are in a format of floats."""
    return rounded(x.astype(np.float64), dtype).astype(np.int64)


@wrong("place", incident="plausible", where=f"places beyond 30000 and {COUNTED}")
def keeps_positions_in_16_bits(given: Any) -> Placed:
    """Saves memory, as no text was longer than 32767 tokens, and takes more for so many."""
    return read(lambda *both: tuple(np.clip(x, -32768, 32767) for x in both), given)


@wrong("place", incident="plausible", where=f"places below zero and {COUNTED}")
def takes_positions_without_a_sign(given: Any) -> Placed:
    """Reads -1, which stands before a text, as 4294967295, which stands behind all."""
    return read(lambda p, r: (p % 2**32, r % 2**32), given)


@wrong("before", incident="I06", where="positions and causal")
def hides_what_stands_at_the_same_place(given: Any) -> Array:
    """Writes r < p, and what stands at the same place is not yet there."""
    return ahead(given) < 0


@wrong(
    "before", incident="I44", citation="gittensor-ai-lab/sparkinfer#3", where=f"{OFF} and causal"
)
def has_positions_for_windows_alone(given: Any) -> Array:
    """Has a triangle for causality, which goes by rows."""
    return before(in_rows(given))


@wrong("before", incident="plausible", where="places out of order and causal")
def takes_keys_to_be_in_order(given: Any) -> Array:
    """Counts the keys that stand before a query, and shows it so many of the first ones."""
    seen = before(given)
    return np.arange(seen.shape[-1]) < seen.sum(axis=-1, keepdims=True)


@wrong("before", incident="plausible", where="places below zero and positions of keys and causal")
def takes_places_below_zero_for_padding(given: Any) -> Array:
    """Takes a key before the start of a text for one that is not there."""
    return before(given) & (given.key_positions >= 0)[:, None, None, :]


@wrong("before", incident="I44", where="causal and places off their rows and M > 16")
def reads_tiles_up_to_that_of_the_row(given: Any) -> Array:
    """Stops at the tile of keys with the row of a query, and asks for places up to there alone."""
    i, j = np.arange(given.query.shape[2])[:, None], np.arange(given.key.shape[2])
    return before(given) & (j // 16 <= i // 16)


@wrong("around", incident="I44", citation="trymirai/lalamo#200", where=f"{OFF} and a window")
def has_positions_for_causality_alone(given: Any, window: Window) -> Array:
    """Computes windows where rows are known and positions are not."""
    return RIGHT.around(in_rows(given), window)


@wrong("around", incident="I44", where=f"{OFF} and a window and a length above 16")
def visits_the_tiles_of_a_window_of_rows(given: Any, window: Window) -> Array:
    """Goes from the tile of keys where a window of rows begins to that where it ends."""
    seen, (left, right) = RIGHT.around(given, window), window
    i, j = np.arange(given.query.shape[2])[:, None], np.arange(given.key.shape[2])
    seen = seen if left is None else seen & (j // 16 >= (i - left) // 16)
    return seen if right is None else seen & (j // 16 <= (i + right) // 16)


@wrong("around", incident="plausible", where="positions and a bound to the left and not causal")
def takes_distances_without_a_sign(given: Any, window: Window) -> Array:
    """Subtracts places without a sign, so that a key ahead lies far behind."""
    left, right = window
    if left is None:
        return RIGHT.around(given, window)
    return RIGHT.around(given, (None, right)) & (-ahead(given) % 2**32 <= left)


@wrong("around", incident="plausible", where="places out of order and a window")
def takes_the_keys_of_a_window_to_be_in_order(given: Any, window: Window) -> Array:
    """Looks for the first and the last key of a window, and reads all that lies between them."""
    seen = np.broadcast_to(RIGHT.around(given, window), ahead(given).shape)
    started = np.logical_or.accumulate(seen, axis=-1)
    unfinished = np.logical_or.accumulate(seen[..., ::-1], axis=-1)[..., ::-1]
    return started & unfinished


@wrong("slant", incident="I42", where=f"{OFF} and slopes")
def measures_slopes_by_rows(s: Array, sigma: float, given: Any) -> Array:
    """Adds a table of linear biases, from which it takes the first rows."""
    return slant(s, sigma, given if given.query_positions is None else in_rows(given))
