"""The tiles of `implementations.fused_triton`: loading rows of arrays, and scores of some keys.

Arguments in capitals are constants of the compiler (`C` is a number that the compiler knows);
others are passed at run time. Scores are in bits, that is, multiplied by log2 e, because the
hardware computes powers of 2 only.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl
from triton.language import constexpr

BITS = constexpr(1.4426950408889634)  # log2 e
FARTHEST = constexpr(2**30)  # stands for no bound; larger distances are set to it
NOBODY = -(2**31)  # the number of leading keys if there are none, below all positions


@triton.jit
def loaded(x, rows, step, n, width, W: constexpr, FULL: constexpr, INSIDE: constexpr):
    """Load rows of an array of n rows of some width, with zeros outside of it.   (rows, W)

    FULL: the width is W    INSIDE: all rows are below n
    """
    c = tl.arange(0, W)
    at = x + rows[:, None] * step + c[None, :]
    if INSIDE and FULL:
        return tl.load(at)
    if INSIDE:
        return tl.load(at, (c < width)[None, :], 0.0)
    if FULL:
        return tl.load(at, (rows < n)[:, None], 0.0)
    return tl.load(at, (rows < n)[:, None] & (c < width)[None, :], 0.0)


@triton.jit
def stored(x, tile, rows, n, width, W: constexpr, WIDE: constexpr):
    """Store the rows below n in a contiguous array."""
    c = tl.arange(0, W)
    inside = (rows < n)[:, None] & (c < width)[None, :]
    tl.store(
        x + rows[:, None] * width + c[None, :], narrowed(tile, x.dtype.element_ty, WIDE), inside
    )


@triton.jit
def narrowed(x, dtype: constexpr, WIDE: constexpr):
    """Return x in another dtype, rounded to nearest, ties to even.

    WIDE: by hand, because Triton's interpreter truncates to bfloat16, without subnormal numbers.
    Half of the last bit is added, minus one if that bit is zero.
    """
    if WIDE and dtype == tl.bfloat16:
        bits = x.to(tl.uint32, bitcast=True)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return bits.to(tl.uint16).to(tl.bfloat16, bitcast=True)
    return x.to(dtype)


@triton.jit
def widened(x, dtype: constexpr, WIDE: constexpr):
    """Return x in another dtype, which contains all its numbers.   WIDE: by hand, as above"""
    if WIDE and x.dtype == tl.bfloat16:
        bits = x.to(tl.uint16, bitcast=True).to(tl.uint32) << 16
        return bits.to(tl.float32, bitcast=True)
    return x.to(dtype)


@triton.jit
def product(a, b, total, WIDE: constexpr):
    """Return total + a b; products of 16-bit numbers are summed in the dtype of the total.

    WIDE: a and b are widened first, because Triton's interpreter cannot multiply bfloat16
    """
    if WIDE:
        a, b = widened(a, total.dtype, WIDE), widened(b, total.dtype, WIDE)
    return tl.dot(a, b, total, input_precision="ieee", out_dtype=total.dtype)


@triton.jit
def mixed(a, x, total, seen, ASKED: constexpr, WIDE: constexpr):
    """Return total + a x; masked entries may be inf or NaN, although zero times these is NaN.

    a, seen: (rows, others)    x: (others, W)    ASKED: some entries may be masked
    """
    if ASKED:
        odd = (tl.abs(widened(x, total.dtype, WIDE)) < float("inf")) == 0
        if tl.max(tl.max(odd.to(tl.int32), 1), 0) > 0:
            none = tl.zeros(total.shape, total.dtype)
            touched = product(
                seen.to(total.dtype).to(x.dtype), odd.to(total.dtype).to(x.dtype), none, WIDE
            )
            total += tl.where(touched > 0, float("nan"), 0.0)
            x = tl.where(odd, 0.0, x)
    return product(a, x, total, WIDE)


@triton.jit
def tanh(x):
    """Return tanh x, with a relative error of a few roundings, also near zero.

    With u = exp(y) as it was rounded, (u - 1) y / log u is exp(y) - 1: the errors of u cancel.
    """
    y = -2 * tl.abs(x)
    y = tl.where(y < -80, -80.0, y)  # unlike a maximum, this keeps NaN
    u = tl.exp(y)
    less = tl.where(u == 1, y, (u - 1) * (y / tl.where(u == 1, 1, tl.log(u))))
    size = -less / (less + 2)
    return tl.where(x < 0, -size, size)


@triton.jit
def numbered(given, rows, n, GIVEN: constexpr):
    """Return the given numbers (positions or segments) of these rows, or their row numbers."""
    if GIVEN:
        rows = tl.load(given + rows, rows < n, 0)
    return rows


@triton.jit
def keys_of(
    i0, N, M, left, right, first,
    BQ: constexpr, BK: constexpr,
    LEFT: constexpr, RIGHT: constexpr, PLAIN: constexpr,
):  # fmt: skip
    """Return four bounds of the keys of a block of queries from i0: lo, whole, past, hi.

    Keys outside lo to hi are masked for all these queries. Keys from whole to past are visible to
    all of them, so that no mask is computed there.
    """
    i1 = tl.minimum(i0 + BQ, N) - 1
    lo, hi = 0, M
    if RIGHT and PLAIN:
        hi = tl.maximum(tl.minimum(M, i1 + right + 1), 0)
    if LEFT and PLAIN:
        lo = tl.where(first > 0, 0, tl.maximum(i0 - left, 0) // BK * BK)
    whole, past = lo, lo
    if PLAIN:
        past = M // BK * BK
        if RIGHT:
            past = tl.minimum(past, tl.maximum(i0 + right + 1, 0) // BK * BK)
        if LEFT:
            whole = tl.minimum(tl.cdiv(tl.maximum(i1 - left, 0), BK) * BK, tl.cdiv(hi, BK) * BK)
            whole = tl.maximum(whole, lo)
        past = tl.maximum(past, whole)
    return lo, whole, past, hi


@triton.jit
def queries_of(
    j0, N, M, left, right, first,
    BQ: constexpr, BK: constexpr,
    LEFT: constexpr, RIGHT: constexpr, PLAIN: constexpr,
):  # fmt: skip
    """Return the same four bounds of the queries, for a block of keys from j0."""
    j1 = tl.minimum(j0 + BK, M) - 1
    lo, hi = 0, N
    if RIGHT and PLAIN:
        lo = tl.maximum(j0 - right, 0) // BQ * BQ
    if LEFT and PLAIN:
        hi = tl.where(j0 < first, N, tl.maximum(tl.minimum(N, j1 + left + 1), 0))
    whole, past = lo, lo
    if PLAIN:
        past = N // BQ * BQ
        if LEFT:
            past = tl.minimum(past, tl.maximum(j0 + left + 1, 0) // BQ * BQ)
        if RIGHT:
            whole = tl.cdiv(tl.maximum(j1 - right, 0), BQ) * BQ
            whole = tl.maximum(tl.minimum(whole, tl.cdiv(hi, BQ) * BQ), lo)
        past = tl.where(j0 + BK > M, whole, tl.maximum(past, whole))
    return lo, whole, past, hi


@triton.jit
def stretch(part: constexpr, lo, whole, past, hi):
    """Return begin and end of one of three parts; in the middle one, every key is visible."""
    if part == 0:
        begin, end = lo, whole
    elif part == 1:
        begin, end = whole, past
    else:
        begin, end = past, hi
    return begin, end


@triton.jit
def scores(
    qk, i, j, p, r, mine, theirs, mask, mask_n, mask_m, N, M, sigma, cap, slope, left, right, first,
    MASK: constexpr, CAP: constexpr, SLOPES: constexpr, TEXTS: constexpr,
    LEFT: constexpr, RIGHT: constexpr, ASKED: constexpr,
    LOWEST: constexpr, WIDE: constexpr,
):  # fmt: skip
    """Return the scores in bits, -inf where a key is masked, and the derivative of the soft-cap.

    i, j: rows of queries and of keys; p, r: their positions; mine, theirs: their segments. All of
    them broadcast to qk. ASKED: some keys of the tile may be masked.
    """
    bent = 1.0
    if CAP or SLOPES:
        s = qk * sigma
        if CAP:
            y = tanh(s / cap)
            s = y * cap
            bent = 1 - y * y
        if SLOPES:
            s -= slope * tl.abs(r - p).to(s.dtype)
        s *= BITS
    else:
        s = qk * (sigma * BITS)
    if ASKED:
        seen = (j < M) & (i < N)
        ahead = tl.minimum(tl.maximum(r - p, -FARTHEST), FARTHEST)
        if RIGHT:
            seen = seen & (ahead <= right)
        if LEFT:
            seen = seen & ((ahead >= -left) | (r < first))
        if TEXTS:
            seen = seen & (mine == theirs) & (theirs >= 0)
        if MASK:
            b = tl.load(mask + i * mask_n + j * mask_m, seen, 0)
            if MASK == 1:
                seen = seen & (b != 0)
            else:
                b = widened(b, s.dtype, WIDE)
                seen = seen & (b != float("-inf"))
                b *= BITS
                s += tl.where(b < LOWEST, LOWEST, b)
        s = tl.where(seen, s, float("-inf"))
    return s, bent
