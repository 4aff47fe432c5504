"""`implementations.arguments` for torch: visible keys, and products without masked keys."""

from collections.abc import Sequence
from math import inf, nan

import torch
from torch import Tensor

from implementations.arguments import Sight, positive

Pair = tuple[Tensor, Tensor]  # one for queries, one for keys
INTEGERS = torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8


def accumulator(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype to compute in: float32 for 16 bits, which is rounded once at the end."""
    return torch.promote_types(dtype, torch.float32)


def laid_out(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return x in `dtype` and contiguous; strides decide in which order a product is summed."""
    return x.to(dtype).contiguous()


def places(query: Tensor, key: Tensor, p: Tensor | None, r: Tensor | None) -> Pair | None:
    """Return the positions of queries (B, N) and keys (B, M); row numbers if only one is given.

    result: (B or 1, 1, N, 1) and (B or 1, 1, 1, M); None if neither is given
    Raises ValueError if positions are not integers, or not one for each token.
    """
    if p is None and r is None:
        return None
    found = []
    for x, tokens in ((p, query), (r, key)):
        B, _, length, _ = tokens.shape
        if x is not None and (x.shape != (B, length) or x.dtype not in INTEGERS):
            raise ValueError(f"positions are integers, (B, length), not {x.dtype} {tuple(x.shape)}")
        rows = torch.arange(length, device=tokens.device)[None] if x is None else x.long()
        found.append(rows[:, None])
    return found[0][..., None], found[1][:, None]


def labelled(
    query_segments: Tensor | None, key_segments: Tensor | None, shape: tuple[int, int, int]
) -> tuple[Tensor, Tensor] | None:
    """Return the segments of queries (B, N) and keys (B, M), or None.   shape: (B, N, M)

    Raises ValueError if only one of them is given, for another shape, or if they are not integers.
    """
    if query_segments is None and key_segments is None:
        return None
    if query_segments is None or key_segments is None:
        raise ValueError("segments are given of queries and keys, or of neither")
    for x, want in ((query_segments, shape[:2]), (key_segments, shape[::2])):
        if x.shape != want or x.dtype not in INTEGERS:
            raise ValueError(f"segments are integers {want}, not {x.dtype} {tuple(x.shape)}")
    return query_segments, key_segments


def together(
    query_segments: Tensor | None, key_segments: Tensor | None, shape: tuple[int, int, int]
) -> Tensor | None:
    """Return True where query and key have the same segment; None without.   (B, 1, N, M)"""
    pair = labelled(query_segments, key_segments, shape)
    if pair is None:
        return None
    mine, theirs = pair[0][:, None, :, None], pair[1][:, None, None]
    return torch.eq(mine, theirs) & (theirs >= 0)


def visible(
    attn_mask: Tensor | None,
    window: Sight,
    rows: slice,
    cols: slice,
    device: torch.device,
    texts: Tensor | None = None,
    at: Pair | None = None,
) -> Tensor:
    """Return True where a query may attend to a key, by window, mask and segments.

    rows, cols: the queries and the keys, those of the mask    result: (..., n, keys)
    at: their positions, (..., n, 1) and (..., keys); None for row numbers
    """
    seen = band(window, rows, cols, device) if at is None else near(window, *at)
    if texts is not None:
        seen = seen & texts
    if attn_mask is None:
        return seen
    return seen & (attn_mask if attn_mask.dtype == torch.bool else ~attn_mask.isneginf())


def band(window: Sight, rows: slice, cols: slice, device: torch.device) -> Tensor:
    """Return True between two diagonals, by row numbers, and at the leading keys.   (n, keys)"""
    offset = cols.start - rows.start
    shape = rows.stop - rows.start, cols.stop - cols.start
    seen = torch.ones(shape, dtype=torch.bool, device=device)
    if window.right is not None:
        seen.tril_(window.right - offset)
    if window.left is None:
        return seen
    first = max(0, window.first - cols.start)
    kept = seen[:, :first].clone()
    seen.triu_(-window.left - offset)[:, :first] = kept
    return seen


def near(window: Sight, p: Tensor, r: Tensor) -> Tensor:
    """Return True where the position r of a key is in the window of the position p of a query."""
    ahead = r - p
    seen = torch.ones_like(ahead, dtype=torch.bool)
    if window.right is not None:
        seen = seen & (ahead <= window.right)
    if window.left is None:
        return seen
    close = ahead >= -window.left
    return seen & (close | (r < window.first) if window.first else close)


def capped(t: Tensor, softcap: float | None) -> Tensor:
    """Return c tanh(t / c), or t without a soft-cap c. Raises ValueError if c is not positive."""
    if softcap is None:
        return t
    return positive(softcap) * (t / softcap).tanh()


def sunk(sinks: Tensor | None, H: int, like: Tensor) -> Tensor:
    """Return the attention sink of each head, in the dtype of `like`; -inf for none.   (H,)

    Raises ValueError if one is inf or NaN, or if there is not one for each head. Under a compiler
    only the shape is checked, because a check of values would break the graph.
    """
    if sinks is None:
        return like.new_full((H,), -inf)
    traced = torch.compiler.is_compiling()
    if sinks.shape != (H,) or not (traced or (sinks < inf).all()):
        raise ValueError(f"sinks are a number below inf for each of {H} heads")
    return sinks.to(like.dtype)


def steep(slopes: Tensor | None, shape: Sequence[int], like: Tensor) -> Tensor | None:
    """Return the ALiBi slope of each head, in the dtype of `like`; None without slopes.

    shape: of the query, (B, H, ...)    result: (B, H)
    Raises ValueError if one is not finite, or if their shape is neither (H,) nor (B, H). Under a
    compiler only the shape is checked, as for sinks.
    """
    if slopes is None:
        return None
    (B, H), traced = shape[:2], torch.compiler.is_compiling()
    if slopes.shape not in ((H,), (B, H)) or not (traced or slopes.isfinite().all()):
        raise ValueError(f"slopes are finite numbers of the shape {(H,)} or {(B, H)}")
    return slopes.to(like.dtype).expand(B, H)


def apart(rows: slice, cols: slice, like: Tensor, at: Pair | None = None) -> Tensor:
    """Return |i - j| for some queries and some keys, in the dtype of `like`.   (..., n, keys)

    at: their positions, (..., n, 1) and (..., keys); None for row numbers
    """
    if at is not None:  # subtract integers: a float may have too few digits
        return (at[1] - at[0]).abs_().to(like.dtype)
    i, j = (
        torch.arange(x.start, x.stop, dtype=like.dtype, device=like.device) for x in (rows, cols)
    )
    return (j - i[:, None]).abs_()


def reference(top: Tensor) -> Tensor:
    """Return the number to subtract from scores: the largest, or 0 if all keys are masked."""
    return top.masked_fill(top.isneginf(), 0)


def nonzero(t: Tensor) -> Tensor:
    """Return the number to divide by: the total, or 1 if all keys are masked."""
    return t.masked_fill(t == 0, 1)


def mixed(a: Tensor, x: Tensor, seen: Tensor | None) -> Tensor:
    """Return sum_j a_ij x_j over the keys that i may attend to; others may be inf or NaN.

    a, seen: (..., N, M), None for all keys    x: (..., M, C)    result: (..., N, C)
    """
    if seen is None:
        return a @ x
    finite = x.isfinite()
    if finite.all():
        return a @ x
    touched = seen.to(a.dtype).expand_as(a) @ (~finite).to(a.dtype)
    return (a @ x.where(finite, 0)).masked_fill(touched > 0, nan)


def add_to_mask(dmask: Tensor, ds: Tensor, at: tuple[int, int, slice], cols: slice) -> None:
    """Add the gradient of the scores of one tile to that of the mask, summed where it broadcasts.

    dmask: any shape that broadcasts to (B, H, N, M)    ds: (n, keys)
    """
    b, h, rows = at
    whole = dmask.view((1,) * (4 - dmask.ndim) + tuple(dmask.shape))
    places = (slice(b, b + 1), slice(h, h + 1), rows, cols)
    once = slice(0, 1)
    part = whole[tuple(once if n == 1 else x for n, x in zip(whole.shape, places, strict=True))]
    part += ds[None, None].sum_to_size(part.shape)


def by_slopes(moment: Tensor, slopes: Tensor) -> Tensor:
    """Return the gradient with respect to the slopes, -sum_ij ds_ij |i - j|.   (H,) or (B, H)

    moment: the sums, (B, H), which are added over the batch if it shares its slopes
    """
    return -(moment if slopes.ndim == 2 else moment.sum(0))
