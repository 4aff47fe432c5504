"""Which keys a window shows, on both of its sides, and whether anybody asks.

The width of a model's configuration counts the query itself and its kernels do not; one side
is inclusive in one library and exclusive in another; and a window that is skipped, tile by tile,
still has an edge inside of a tile.
"""

import numpy as np

from spec.attention.mistakes.causality import keys, queries
from spec.attention.mistakes.exponentials import forbid, log_sum, softmax_with_sink, with_sink
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Pass
from spec.attention.mistakes.tiles import TILE
from spec.attention.notation import UNBOUNDED, Window
from spec.notation import Array
from spec.sizes import Sizes

BEYOND = 2**40  # more keys than there can be
HIDES = "a window and a hidden key"


def bounds(window: Window) -> tuple[int, int]:
    """The two bounds as numbers."""
    left, right = (BEYOND if bound is None else bound for bound in window)
    return left, right


def ahead(sizes: Sizes) -> Array:
    """How far key j lies ahead of query i.   (N, M)"""
    return keys(sizes) - queries(sizes)


@wrong("limit", incident="I07", where=HIDES)
def ignores_the_window(_: Window, __: Array | None, ___: bool) -> Window:
    """Takes the window, and hands it on to nobody."""
    return UNBOUNDED


@wrong("limit", incident="I07", where="causal and a key behind the window")
def forgets_the_window_beside_causality(window: Window, _: Array | None, causal: bool) -> Window:
    """Has a causal path of its own, which knows no window."""
    return UNBOUNDED if causal else window


@wrong("limit", incident="I07", where="a window and a hidden key and not causal")
def has_windows_where_it_is_causal(window: Window, _: Array | None, causal: bool) -> Window:
    """Reads the window where the diagonal is computed, and so only if there is one."""
    return window if causal else UNBOUNDED


@wrong("limit", incident="I07", where="a window and a mask")
def forgets_the_window_beside_a_mask(window: Window, mask: Array | None, _: bool) -> Window:
    """Takes a mask that is given to be the whole of what is hidden."""
    return window if mask is None else UNBOUNDED


@wrong("limit", incident="I07", where="a key ahead of the window")
def bounds_windows_to_the_left_alone(window: Window, _: Array | None, __: bool) -> Window:
    """Forgets the keys ahead, which a causal caller never misses."""
    return window[0], None


@wrong("limit", incident="I07", where="a bound to the left and a hidden key")
def bounds_windows_to_the_right_alone(window: Window, _: Array | None, __: bool) -> Window:
    """Forgets the keys behind."""
    return None, window[1]


@wrong(
    "limit",
    incident="plausible",
    citation="ModelTC/LightLLM#1311",
    where="a bound to the left and not causal and (N > 1 or M > 1 or positions)",
)
def takes_the_left_bound_for_both(window: Window, _: Array | None, __: bool) -> Window:
    """Has one width, and looks as far ahead as behind."""
    return window if window[0] is None else (window[0], window[0])


@wrong("limit", incident="plausible", where="a window and (N > 1 or M > 1 or positions)")
def swaps_the_bounds_of_a_window(window: Window, _: Array | None, __: bool) -> Window:
    """Takes (left, right) for (right, left)."""
    return window[1], window[0]


@wrong("limit", incident="plausible", where="a window and not causal")
def takes_windows_to_be_causal(window: Window, _: Array | None, __: bool) -> Window:
    """Knows sliding windows from decoders, and hides what lies ahead."""
    return window if window == UNBOUNDED else (window[0], 0)


@wrong("limit", incident="plausible", where="a bound of zero and a hidden key")
def takes_a_bound_of_zero_for_none(window: Window, _: Array | None, __: bool) -> Window:
    """Tests `if left:`, so that zero bounds nothing."""
    return window[0] or None, window[1] or None


@wrong("limit", incident="plausible", where="a bound to one side")
def takes_no_bound_for_zero(window: Window, _: Array | None, __: bool) -> Window:
    """Writes `left or 0`, so that who has one bound has two."""
    return window if window == UNBOUNDED else (window[0] or 0, window[1] or 0)


@wrong(
    "within",
    incident="I06",
    citation="NVIDIA/TransformerEngine#1197",
    where="a key at the left bound and not positions",
)
def excludes_the_left_bound(sizes: Sizes, window: Window) -> Array:
    """Counts the query as one of its window, so that it reaches one key less far back."""
    left, right = bounds(window)
    return (ahead(sizes) > -left) & (ahead(sizes) <= right)


@wrong("within", incident="I06", where="a key behind the window and not positions")
def reaches_one_key_further_back(sizes: Sizes, window: Window) -> Array:
    """Is handed a width that counts the query, and adds the query once more."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left - 1) & (ahead(sizes) <= right)


@wrong("within", incident="I06", where="a key at the right bound and not positions")
def excludes_the_right_bound(sizes: Sizes, window: Window) -> Array:
    """Writes a half-open range, as slices are, and loses its last key."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left) & (ahead(sizes) < right)


@wrong("within", incident="I06", where="a key ahead of the window and not positions")
def reaches_one_key_further_ahead(sizes: Sizes, window: Window) -> Array:
    """Adds one to make a range that was closed already."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left) & (ahead(sizes) <= right + 1)


@wrong(
    "within",
    incident="I03",
    convention=("window corner", "bottom-right"),
    where="a window and N != M and not positions",
)
def centres_windows_at_the_end(sizes: Sizes, window: Window) -> Array:
    """Takes the queries for the last of the text, which has more keys."""
    left, right = bounds(window)
    place = ahead(sizes) - (sizes.M - sizes.N)
    return (place >= -left) & (place <= right)


@wrong("within", incident="I03", where="a key behind the window and N > M and not positions")
def stops_windows_at_the_last_key(sizes: Sizes, window: Window) -> Array:
    """Has queries beyond the last key look around that, and so never at nothing."""
    left, right = bounds(window)
    place = keys(sizes) - np.minimum(queries(sizes), sizes.M - 1)
    return (place >= -left) & (place <= right)


@wrong(
    "within",
    incident="I07",
    citation="vllm-project/tpu-inference#1161",
    where="a bound to the left and a hidden key and N > 1 and not positions",
)
def skips_whole_tiles_alone(sizes: Sizes, window: Window) -> Array:
    """Skips the tiles that lie behind a window, and reads the one that its edge cuts in full."""
    left, right = bounds(window)
    return (keys(sizes) >= (queries(sizes) - left) // TILE * TILE) & (ahead(sizes) <= right)


@wrong("within", incident="I07", where="a bound to the left and N > 16 and not positions")
def skips_the_tile_that_a_window_cuts(sizes: Sizes, window: Window) -> Array:
    """Rounds the first tile of a window up, and so loses the keys before it."""
    left, right = bounds(window)
    first = -(-np.maximum(queries(sizes) - left, 0) // TILE) * TILE
    seen = (ahead(sizes) >= -left) & (ahead(sizes) <= right)
    return seen & ((keys(sizes) >= first) | (keys(sizes) // TILE == queries(sizes) // TILE))


@wrong(
    "within",
    incident="plausible",
    citation="flashinfer-ai/flashinfer#4972",
    where="a bound to the left and N > 1 and not positions",
)
def shares_a_left_bound_among_rows(sizes: Sizes, window: Window) -> Array:
    """Computes the left bound once for each tile of queries, from its last one."""
    left, right = bounds(window)
    last = np.minimum(queries(sizes) // TILE * TILE + TILE - 1, sizes.N - 1)
    return (keys(sizes) >= last - left) & (ahead(sizes) <= right)


@wrong("within", incident="I07", where="a key behind the window and M > 16 and not positions")
def bounds_the_first_tile_alone(sizes: Sizes, window: Window) -> Array:
    """Applies the left bound in the first tile of keys, behind which no test went."""
    left, right = bounds(window)
    return ((ahead(sizes) >= -left) | (keys(sizes) >= TILE)) & (ahead(sizes) <= right)


@wrong(
    "within", incident="plausible", where="a bound to the left and a hidden key and not positions"
)
def keeps_the_first_key_in_sight(sizes: Sizes, window: Window) -> Array:
    """Has the first key seen through every window, as models need that were trained so."""
    left, right = bounds(window)
    return ((ahead(sizes) >= -left) | (keys(sizes) == 0)) & (ahead(sizes) <= right)


@wrong(
    "limit",
    spoils="gradient",
    incident="I07",
    where="gradients asked for and a window and (M > 1 or a hidden key)",
)
def differentiates_without_the_window(_: Window, __: Array | None, ___: bool) -> Window:
    """Computes the weights again in the backward pass, and there of all keys."""
    return UNBOUNDED


@wrong("show", incident="I07", where=f"the weights asked for and {HIDES}")
def shows_weights_without_the_window(seen: Pass) -> Array:
    """Computes the weights a second time for display, and there of all keys."""
    return softmax_with_sink(forbid(seen.s, seen.anywhere), seen)


@wrong("measure", incident="I07", where=f"the log-sum-exp asked for and {HIDES}")
def measures_lse_without_the_window(seen: Pass) -> Array:
    """Sums the exponentials of all keys, before the window leaves some of them."""
    return with_sink(log_sum(forbid(seen.s, seen.anywhere)), seen)
