"""Known bugs of sliding windows: which keys are visible on both sides, and in which calls.

A model's configuration counts the query in the width of its window, and kernels do not. A bound
is inclusive in one library and exclusive in another. If a kernel skips whole tiles behind the
window, it must still mask single keys in the tile at the edge.
"""

import numpy as np

from spec.attention.contents import UNBOUNDED, Window
from spec.attention.mistakes.causality import keys, queries
from spec.attention.mistakes.exponentials import forbid, log_sum, softmax_with_sink, with_sink
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Pass
from spec.attention.mistakes.tiles import TILE
from spec.notation import Array
from spec.sizes import Sizes

BEYOND = 2**40  # more keys than there can be
HIDES = "a window and a masked key"


def bounds(window: Window) -> tuple[int, int]:
    """The two bounds as numbers; BEYOND stands for no bound."""
    left, right = (BEYOND if bound is None else bound for bound in window)
    return left, right


def ahead(sizes: Sizes) -> Array:
    """How far key j lies ahead of query i.   (N, M)"""
    return keys(sizes) - queries(sizes)


@wrong("limit", incident="BUG-07", where=HIDES)
def ignores_the_window(_: Window, __: Array | None, ___: bool) -> Window:
    """Accepts the window, but does not use it."""
    return UNBOUNDED


@wrong("limit", incident="BUG-07", where="causal and a key before the window")
def forgets_the_window_beside_causality(window: Window, _: Array | None, causal: bool) -> Window:
    """Ignores the window in causal calls, which take a separate code path."""
    return UNBOUNDED if causal else window


@wrong("limit", incident="BUG-07", where="a window and a masked key and not causal")
def has_windows_where_it_is_causal(window: Window, _: Array | None, causal: bool) -> Window:
    """Applies the window only in causal calls, where the causal diagonal is computed."""
    return window if causal else UNBOUNDED


@wrong("limit", incident="BUG-07", where="a window and a mask")
def forgets_the_window_beside_a_mask(window: Window, mask: Array | None, _: bool) -> Window:
    """Ignores the window if a mask is given, as if the mask included it."""
    return window if mask is None else UNBOUNDED


@wrong("limit", incident="BUG-07", where="a key after the window")
def bounds_windows_to_the_left_alone(window: Window, _: Array | None, __: bool) -> Window:
    """Ignores the right bound of the window, so keys beyond it stay visible."""
    return window[0], None


@wrong("limit", incident="BUG-07", where="a left window bound and a masked key")
def bounds_windows_to_the_right_alone(window: Window, _: Array | None, __: bool) -> Window:
    """Ignores the left bound of the window, so keys behind it stay visible."""
    return None, window[1]


@wrong(
    "limit",
    incident="plausible",
    citation="ModelTC/LightLLM#1311",
    where="a left window bound and not causal and (N > 1 or M > 1 or positions)",
)
def takes_the_left_bound_for_both(window: Window, _: Array | None, __: bool) -> Window:
    """Uses the left bound of the window on both sides."""
    return window if window[0] is None else (window[0], window[0])


@wrong("limit", incident="plausible", where="a window and (N > 1 or M > 1 or positions)")
def swaps_the_bounds_of_a_window(window: Window, _: Array | None, __: bool) -> Window:
    """Swaps the left and the right bound of the window."""
    return window[1], window[0]


@wrong("limit", incident="plausible", where="a window and not causal")
def takes_windows_to_be_causal(window: Window, _: Array | None, __: bool) -> Window:
    """Sets the right bound of every window to 0, so keys ahead of the query are masked."""
    return window if window == UNBOUNDED else (window[0], 0)


@wrong("limit", incident="plausible", where="a window bound of zero and a masked key")
def takes_a_bound_of_zero_for_none(window: Window, _: Array | None, __: bool) -> Window:
    """Treats a bound of 0 as no bound: it tests `if left:`, which is false for 0."""
    return window[0] or None, window[1] or None


@wrong("limit", incident="plausible", where="a window with one bound")
def takes_no_bound_for_zero(window: Window, _: Array | None, __: bool) -> Window:
    """Treats a missing bound as 0 if the other bound is given: it writes `left or 0`."""
    return window if window == UNBOUNDED else (window[0] or 0, window[1] or 0)


@wrong(
    "within",
    incident="BUG-06",
    citation="NVIDIA/TransformerEngine#1197",
    where="a key at the left window bound and not positions",
)
def excludes_the_left_bound(sizes: Sizes, window: Window) -> Array:
    """Masks the key exactly at the left bound: it counts the query as part of the width."""
    left, right = bounds(window)
    return (ahead(sizes) > -left) & (ahead(sizes) <= right)


@wrong("within", incident="BUG-06", where="a key before the window and not positions")
def reaches_one_key_further_back(sizes: Sizes, window: Window) -> Array:
    """Extends the window by one key to the left: it counts the query twice in the width."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left - 1) & (ahead(sizes) <= right)


@wrong("within", incident="BUG-06", where="a key at the right window bound and not positions")
def excludes_the_right_bound(sizes: Sizes, window: Window) -> Array:
    """Masks the key exactly at the right bound, as a half-open range does."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left) & (ahead(sizes) < right)


@wrong(
    "within", incident="BUG-06", where="N = 1 and a key at the right window bound and not positions"
)
def excludes_the_right_bound_of_a_single_query(sizes: Sizes, window: Window) -> Array:
    """Masks the key at the right bound if there is one query: its kernel counts keys otherwise."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left) & (ahead(sizes) <= right - (sizes.N == 1))


@wrong("within", incident="BUG-06", where="a key after the window and not positions")
def reaches_one_key_further_ahead(sizes: Sizes, window: Window) -> Array:
    """Extends the window by one key to the right: it adds one to an inclusive bound."""
    left, right = bounds(window)
    return (ahead(sizes) >= -left) & (ahead(sizes) <= right + 1)


@wrong(
    "within",
    incident="BUG-03",
    convention=("window-alignment", "bottom-right"),
    where="a window and N != M and not positions",
)
def centres_windows_at_the_end(sizes: Sizes, window: Window) -> Array:
    """Aligns windows bottom-right: it places the last query at the last key, not at its row."""
    left, right = bounds(window)
    place = ahead(sizes) - (sizes.M - sizes.N)
    return (place >= -left) & (place <= right)


@wrong("within", incident="BUG-03", where="a key before the window and N > M and not positions")
def stops_windows_at_the_last_key(sizes: Sizes, window: Window) -> Array:
    """Places queries beyond the last key at the last key, so their windows are never empty."""
    left, right = bounds(window)
    place = keys(sizes) - np.minimum(queries(sizes), sizes.M - 1)
    return (place >= -left) & (place <= right)


@wrong(
    "within",
    incident="BUG-07",
    citation="vllm-project/tpu-inference#1161",
    where="a left window bound and a masked key and N > 1 and not positions",
)
def skips_whole_tiles_alone(sizes: Sizes, window: Window) -> Array:
    """Applies the left bound to whole tiles of 16 keys only: keys just behind it stay visible."""
    left, right = bounds(window)
    return (keys(sizes) >= (queries(sizes) - left) // TILE * TILE) & (ahead(sizes) <= right)


@wrong("within", incident="BUG-07", where="a left window bound and N > 16 and not positions")
def skips_the_tile_that_a_window_cuts(sizes: Sizes, window: Window) -> Array:
    """Masks the whole tile of 16 keys that the left bound cuts, unless the query is in it."""
    left, right = bounds(window)
    first = -(-np.maximum(queries(sizes) - left, 0) // TILE) * TILE
    seen = (ahead(sizes) >= -left) & (ahead(sizes) <= right)
    return seen & ((keys(sizes) >= first) | (keys(sizes) // TILE == queries(sizes) // TILE))


@wrong(
    "within",
    incident="plausible",
    citation="flashinfer-ai/flashinfer#4972",
    where="a left window bound and N > 1 and not positions",
)
def shares_a_left_bound_among_rows(sizes: Sizes, window: Window) -> Array:
    """Computes the left bound once for each tile of 16 queries, from its last query."""
    left, right = bounds(window)
    last = np.minimum(queries(sizes) // TILE * TILE + TILE - 1, sizes.N - 1)
    return (keys(sizes) >= last - left) & (ahead(sizes) <= right)


@wrong("within", incident="BUG-07", where="a key before the window and M > 16 and not positions")
def bounds_the_first_tile_alone(sizes: Sizes, window: Window) -> Array:
    """Applies the left bound only to the first 16 keys, so later ones stay visible behind it."""
    left, right = bounds(window)
    return ((ahead(sizes) >= -left) | (keys(sizes) >= TILE)) & (ahead(sizes) <= right)


@wrong(
    "within", incident="plausible", where="a left window bound and a masked key and not positions"
)
def keeps_the_first_key_in_sight(sizes: Sizes, window: Window) -> Array:
    """Keeps the first key visible behind the window, although no leading keys are requested."""
    left, right = bounds(window)
    return ((ahead(sizes) >= -left) | (keys(sizes) == 0)) & (ahead(sizes) <= right)


@wrong(
    "limit",
    spoils="gradient",
    incident="BUG-07",
    where="gradients asked for and a window and (M > 1 or a masked key)",
)
def differentiates_without_the_window(_: Window, __: Array | None, ___: bool) -> Window:
    """Recomputes the weights in the backward pass without the window."""
    return UNBOUNDED


@wrong("show", incident="BUG-07", where=f"the weights asked for and {HIDES}")
def shows_weights_without_the_window(seen: Pass) -> Array:
    """Returns weights that it recomputes without the window, although the output is right."""
    return softmax_with_sink(forbid(seen.s, seen.anywhere), seen)


@wrong("measure", incident="BUG-07", where=f"the log-sum-exp asked for and {HIDES}")
def measures_lse_without_the_window(seen: Pass) -> Array:
    """Returns the log-sum-exp without the window, although the output is right."""
    return with_sink(log_sum(forbid(seen.s, seen.anywhere)), seen)
