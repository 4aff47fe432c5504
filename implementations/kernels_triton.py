"""The forward kernel of `implementations.fused_triton`, and the first one of the backward pass."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl
from triton.language import constexpr

from implementations.tiles_triton import (
    BITS,
    keys_of,
    loaded,
    mixed,
    narrowed,
    numbered,
    product,
    scores,
    stored,
    stretch,
    widened,
)

# Arguments that vary between calls and need no new compilation.
FREE = "H", "R", "N", "M", "sunk", "sigma", "cap", "left", "right", "first", "mask_b", "mask_h"


@triton.jit(do_not_specialize=FREE)
def forward(
    q, k, v, mask, sinks, slopes, places_q, places_k, texts_q, texts_k, o, lse,
    q_b, q_h, q_n, k_b, k_h, k_n, v_b, v_h, v_n, mask_b, mask_h, mask_n, mask_m,
    H, R, N, M, D, E, sunk, sigma, cap, left, right, first,
    WD: constexpr, WE: constexpr, FD: constexpr, FE: constexpr,
    BQ: constexpr, BK: constexpr,
    FLIP: constexpr, MASK: constexpr, CAP: constexpr, SLOPES: constexpr,
    TEXTS: constexpr, PLACES: constexpr, LEFT: constexpr, RIGHT: constexpr,
    SUM: constexpr, WIDE: constexpr, LOWEST: constexpr,
):  # fmt: skip
    """Store o (B, H, N, E), and lse in bits (B, H, N): a program for BQ queries of a head.

    The output so far is scaled down whenever the largest score m rises; mass is the sum of its
    weights. sunk: the number of heads with a sink, all or none
    """
    PLAIN: constexpr = not (MASK or TEXTS or PLACES)
    i0 = (tl.num_programs(0) - 1 - tl.program_id(0)) * BQ  # blocks with the most visible keys first
    bh = tl.program_id(1).to(tl.int64)
    b, h = bh // H, bh % H
    i = i0 + tl.arange(0, BQ)
    k += b * k_b + h // R * k_h
    v += b * v_b + h // R * v_h
    mask += b * mask_b + h * mask_h
    query = loaded(q + b * q_b + h * q_h, i, q_n, N, D, WD, FD, False)
    if FLIP:
        query = narrowed(-widened(query, SUM, WIDE), query.dtype, WIDE)
    p = numbered(places_q + b * N, i, N, PLACES)
    mine = numbered(texts_q + b * N, i, N, TEXTS)
    slope = tl.load(slopes + bh) if SLOPES else 0.0
    total = tl.zeros([BQ, WE], SUM)
    mass = tl.zeros([BQ], SUM)
    sink = tl.load(sinks + h, h < sunk, float("-inf"))
    there = sink != float("-inf")
    m = mass + tl.where(there, tl.maximum(sink * BITS, LOWEST), float("-inf"))
    mass += there.to(SUM)
    lo, whole, past, hi = keys_of(i0, N, M, left, right, first, BQ, BK, LEFT, RIGHT, PLAIN)
    for part in tl.static_range(3):
        begin, end = stretch(part, lo, whole, past, hi)
        if (part == 0 and LEFT) or (part == 1 and PLAIN) or part == 2:
            for j0 in range(begin, end, BK):
                j = j0 + tl.arange(0, BK)
                key = loaded(k, j, k_n, M, D, WD, FD, part == 1)
                r = numbered(places_k + b * M, j, M, PLACES)
                theirs = numbered(texts_k + b * M, j, M, TEXTS)
                qk = product(query, tl.trans(key), tl.zeros([BQ, BK], SUM), WIDE)
                if part == 1 and not (CAP or SLOPES):  # sigma >= 0 keeps the largest score
                    top = tl.maximum(m, tl.max(qk, 1) * (sigma * BITS))
                    shift = top
                    s = qk * (sigma * BITS)
                else:
                    s, _ = scores(
                        qk, i[:, None], j[None, :], p[:, None], r[None, :], mine[:, None],
                        theirs[None, :], mask, mask_n, mask_m, N, M, sigma, cap, slope,
                        left, right, first,
                        MASK, CAP, SLOPES, TEXTS, LEFT, RIGHT, part != 1,
                        LOWEST, WIDE,
                    )  # fmt: skip
                    top = tl.maximum(m, tl.max(s, 1))
                    shift = tl.where(top == float("-inf"), 0.0, top)
                fade = tl.exp2(m - shift)
                e = tl.exp2(s - shift[:, None])
                mass = mass * fade + tl.sum(e, 1)
                value = loaded(v, j, v_n, M, E, WE, FE, part == 1)
                total *= fade[:, None]
                e = narrowed(e, value.dtype, WIDE)
                total = mixed(e, value, total, s != float("-inf"), not PLAIN, WIDE)
                m = top
    idle = mass == 0
    total = total / tl.where(idle, 1.0, mass)[:, None]
    stored(o + bh * N * E, total, i, N, E, WE, WIDE)
    tl.store(lse + bh * N + i, tl.where(idle, m, m + tl.log2(tl.where(idle, 1.0, mass))), i < N)


@triton.jit(do_not_specialize=FREE)
def inner(
    dout, o, dlse, rows, N, E, WE: constexpr, FE: constexpr, BQ: constexpr, DLSE: constexpr,
    SUM: constexpr, WIDE: constexpr,
):  # fmt: skip
    """Store <dout_i, o_i> - dlse_i, which the gradients of weights are reduced by.   (B, H, N)"""
    i = tl.program_id(0) * BQ + tl.arange(0, BQ)
    bh = tl.program_id(1).to(tl.int64)
    g = widened(loaded(dout + bh * N * E, i, E, N, E, WE, FE, False), SUM, WIDE)
    y = widened(loaded(o + bh * N * E, i, E, N, E, WE, FE, False), SUM, WIDE)
    row = tl.sum(g * y, 1)
    if DLSE:
        row -= tl.load(dlse + bh * N + i, i < N, 0.0)
    tl.store(rows + bh * N + i, row, i < N)
