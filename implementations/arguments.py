"""The meaning of the arguments of attention, defined once for all NumPy implementations here.

`sight` turns causality into a window that ends at the query. `together` turns segments into a mask.
`places` replaces row numbers by positions. `visible` combines mask, window and segments: may query
i attend to key j? `masked` sets the scores of masked keys to -inf. `mixed` multiplies by weights
and leaves masked keys out, even if they hold inf or NaN, because 0 * NaN is not 0. `sunk` gives a
head without an attention sink one of -inf, whose exponential is 0. `slanted` changes no score
without slopes.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from spec.notation import Array

Window = tuple[int | None, int | None]  # bounds to the left and right; None is no bound
UNBOUNDED: Window = (None, None)


class Sight(NamedTuple):
    """The reach of a query to the left and right, and the number of leading keys."""

    left: int | None
    right: int | None
    first: int = 0


def accumulator(dtype: np.dtype) -> np.dtype:
    """Return the dtype to compute in: float32 for float16, which is rounded once at the end."""
    return np.promote_types(dtype, np.float32)


def laid_out(x: Array, dtype: np.dtype) -> Array:
    """Return x in `dtype` and in C order; strides decide in which order a product is summed."""
    return np.ascontiguousarray(x, dtype)


def rounded(x: Array, dtype: np.dtype) -> Array:
    """Return x in `dtype`; a number too large for it becomes infinite."""
    with np.errstate(over="ignore"):
        return x.astype(dtype, copy=False)


def factor(scale: float | None, D: int) -> float:
    """Return the scale, by default 1 / sqrt(D); for keys of width 0 this is 1."""
    return 1 / sqrt(max(D, 1)) if scale is None else scale


def group(H: int, G: int, enable_gqa: bool) -> int:
    """Return the number of query heads for each key head.

    Raises ValueError if H and G differ without enable_gqa, or if G does not divide H.
    """
    if H == G:
        return 1
    if not (enable_gqa and 0 < G < H) or H % G:
        raise ValueError(f"{H} query heads cannot share {G} key heads (enable_gqa={enable_gqa})")
    return H // G


def shared(x: Array, R: int) -> Array:
    """Return key heads repeated for their query heads: (B, G, ...) to (B, G R, ...)."""
    return x if R == 1 else np.repeat(x, R, axis=1)


def gathered(x: Array, R: int) -> Array:
    """Return the adjoint of `shared`, a sum over each group: (B, G R, ...) to (B, G, ...)."""
    return x if R == 1 else x.reshape(x.shape[0], x.shape[1] // R, R, *x.shape[2:]).sum(axis=2)


def everywhere(attn_mask: Array | None, shape: tuple[int, ...]) -> Array | None:
    """Return the mask as a view of the full shape (B, H, N, M), without a copy."""
    return None if attn_mask is None else np.broadcast_to(attn_mask, shape)


def sight(is_causal: bool, window_size: Window = UNBOUNDED, sink_size: int = 0) -> Sight:
    """Return the reach of a query to the left and right; causality sets the right one to 0.

    Raises ValueError if a bound or the number of leading keys is negative.
    """
    left, right = window_size
    if min(left or 0, right or 0, sink_size) < 0:
        told = f"{window_size}, sink_size={sink_size}"
        raise ValueError(f"a window has no negative bound, and no fewer first keys than 0: {told}")
    return Sight(left, 0 if is_causal else right, sink_size)


def places(query: Array, key: Array, p: Array | None, r: Array | None) -> tuple[Array, Array]:
    """Return the row numbers, or the positions p, (B, N), and r, (B, M), in their place.

    result: (N, 1) and (M,), or (B, 1, N, 1) and (B, 1, 1, M)
    Raises ValueError if positions are not integers, or not one for each token.
    """
    i, j = np.arange(query.shape[2]), np.arange(key.shape[2])
    if p is None and r is None:
        return i[:, None], j
    for x, tokens in ((p, query), (r, key)):
        if x is not None and (x.shape != tokens.shape[::2] or x.dtype.kind not in "iu"):
            raise ValueError(f"positions are integers, (B, length), not {x.dtype} {x.shape}")
    p, r = (
        i[None] if p is None else p.astype(np.int64),
        j[None] if r is None else r.astype(np.int64),
    )
    return p[:, None, :, None], r[:, None, None, :]


def labelled(
    query_segments: Array | None, key_segments: Array | None, shape: tuple[int, int, int]
) -> tuple[Array, Array] | None:
    """Return the segments of queries (B, N) and keys (B, M), or None.   shape: (B, N, M)

    Raises ValueError if only one of them is given, for another shape, or if they are not integers.
    """
    if query_segments is None and key_segments is None:
        return None
    if query_segments is None or key_segments is None:
        raise ValueError("segments are given of queries and keys, or of neither")
    for x, want in ((query_segments, shape[:2]), (key_segments, shape[::2])):
        if x.shape != want or x.dtype.kind not in "iu" or not np.can_cast(x.dtype, np.int64):
            raise ValueError(f"segments are integers {want}, not {x.dtype} {x.shape}")
    return query_segments, key_segments


def together(
    query_segments: Array | None, key_segments: Array | None, shape: tuple[int, int, int]
) -> Array | None:
    """Return True where query and key have the same segment; None without.   (B, 1, N, M)"""
    pair = labelled(query_segments, key_segments, shape)
    return None if pair is None else of_one_text(pair[0][:, None, :, None], pair[1][:, None, None])


def of_one_text(mine: Array, theirs: Array) -> Array:
    """Return True where two segments that broadcast are equal and not negative."""
    return (mine == theirs) & (theirs >= 0)


def visible(
    attn_mask: Array | None, window: Sight, i: Array, j: Array, texts: Array | None = None
) -> Array:
    """Return True where i may attend to j; i and j broadcast with the mask and the segments."""
    seen: Array = np.broadcast_to(np.True_, np.broadcast_shapes(i.shape, j.shape))
    if attn_mask is not None:
        seen = attn_mask if attn_mask.dtype == bool else ~np.isneginf(attn_mask)
    if texts is not None:
        seen = seen & texts
    if window.right is not None:
        seen = seen & (j <= i + window.right)
    if window.left is None:
        return seen
    near = j >= i - window.left
    return seen & (near | (j < window.first) if window.first else near)


def positive(softcap: float) -> float:
    """Return the soft-cap. Raises ValueError if it is not positive and finite."""
    if not 0 < softcap < inf:
        raise ValueError(f"a cap is positive and finite, which {softcap} is not")
    return softcap


def capped(t: Array, softcap: float | None) -> tuple[Array, Array | float]:
    """Return c tanh(t / c) and its derivative by t; without a soft-cap c, t and 1.

    Raises ValueError if the soft-cap is not positive.
    """
    if softcap is None:
        return t, 1.0
    c = t.dtype.type(positive(softcap))
    y = np.tanh(t / c)
    return c * y, 1 - y * y


def sunk(sinks: Array | None, H: int, dtype: np.dtype) -> Array:
    """Return the attention sink of each head, -inf for none.   (H,)

    Raises ValueError if one is inf or NaN, or if there is not one for each head.
    """
    if sinks is None:
        return np.full(H, -np.inf, dtype)
    if sinks.shape != (H,) or not (sinks < inf).all():
        raise ValueError(f"sinks are a number below inf for each of {H} heads")
    return sinks.astype(dtype)


def steep(slopes: Array | None, shape: tuple[int, ...], dtype: np.dtype) -> Array | None:
    """Return the ALiBi slope of each head, or None without slopes.

    shape: of the query, (B, H, ...)    result: (B, H)
    Raises ValueError if one is not finite, or if their shape is neither (H,) nor (B, H).
    """
    if slopes is None:
        return None
    B, H = shape[:2]
    if slopes.shape not in ((H,), (B, H)) or not np.isfinite(slopes).all():
        raise ValueError(f"slopes are finite numbers of the shape {(H,)} or {(B, H)}")
    return np.broadcast_to(slopes.astype(dtype), (B, H))


def apart(i: Array, j: Array, dtype: np.dtype) -> Array:
    """Return |i - j|, for indices that broadcast."""
    few = all(np.abs(x).max(initial=0) >> np.finfo(dtype).nmant == 0 for x in (i, j))
    d: Array = i.astype(dtype) - j.astype(dtype) if few else (i - j).astype(dtype)  # both exact
    return np.abs(d, out=d)


def slanted(s: Array, m: Array | None, i: Array, j: Array) -> Array:
    """Return s_ij - m |i - j|, with a slope m for each head; s without slopes.

    i, j: indices that broadcast to the axes of s after the axes of heads, or to all axes
    """
    if m is None:
        return s
    return s - m.reshape(*m.shape, *(1,) * (s.ndim - m.ndim)) * apart(i, j, s.dtype)


def reference(top: Array) -> Array:
    """Return the number to subtract from scores: the largest, or 0 if all keys are masked."""
    return np.where(np.isneginf(top), 0, top)


def nonzero(t: Array) -> Array:
    """Return the number to divide by: the total, or 1 if all keys are masked."""
    return np.where(t == 0, 1, t)


def masked(s: Array, attn_mask: Array | None, seen: Array) -> Array:
    """Return the scores with a float mask added, and -inf where a key is masked."""
    if attn_mask is not None and attn_mask.dtype != bool:
        with np.errstate(invalid="ignore"):
            s = s + attn_mask.astype(s.dtype)
    return s if seen.all() else np.where(seen, s, -np.inf)


def mixed(a: Array, x: Array, seen: Array | None) -> Array:
    """Return sum_j a_ij x_j over the keys that i may attend to; seen is None for all of them.

    a, seen: (..., N, M)    x: (..., M, C)    result: (..., N, C)
    """
    if seen is None:
        return a @ x
    finite = np.isfinite(x)
    if finite.all():
        return a @ x
    touched = np.broadcast_to(seen, a.shape).astype(a.dtype) @ (~finite).astype(a.dtype)
    return np.where(touched > 0, np.nan, a @ np.where(finite, x, 0))
