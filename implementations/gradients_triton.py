"""The backward kernels of `implementations.fused_triton`: by queries, and by keys.

One kernel computes dq, another dk and dv. One program sums each number, in one order, so that equal
calls give equal bits. The price is that scores and <dout, v> are computed twice: seven matrix
products, and not five as in a kernel with atomic sums.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl
from triton.language import constexpr

from implementations.kernels_triton import FREE
from implementations.tiles_triton import (
    keys_of,
    loaded,
    mixed,
    narrowed,
    numbered,
    product,
    queries_of,
    scores,
    stored,
    stretch,
)


@triton.jit(do_not_specialize=FREE)
def by_queries(
    q, k, v, mask, slopes, places_q, places_k, texts_q, texts_k, lse, rows, dout,
    dq, dmask, moment,
    q_b, q_h, q_n, k_b, k_h, k_n, v_b, v_h, v_n, mask_b, mask_h, mask_n, mask_m,
    H, R, N, M, D, E, sigma, cap, left, right, first,
    WD: constexpr, WE: constexpr, FD: constexpr, FE: constexpr,
    BQ: constexpr, BK: constexpr,
    MASK: constexpr, CAP: constexpr, SLOPES: constexpr, TEXTS: constexpr, PLACES: constexpr,
    LEFT: constexpr, RIGHT: constexpr, DMASK: constexpr, DSLOPES: constexpr,
    SUM: constexpr, WIDE: constexpr, LOWEST: constexpr,
):  # fmt: skip
    """Store dq (B, H, N, D), if requested dmask (B, H, N, M), and the sums for slopes (B, H, N)."""
    PLAIN: constexpr = not (MASK or TEXTS or PLACES)
    i0 = (tl.num_programs(0) - 1 - tl.program_id(0)) * BQ
    bh = tl.program_id(1).to(tl.int64)
    b, h = bh // H, bh % H
    i = i0 + tl.arange(0, BQ)
    k += b * k_b + h // R * k_h
    v += b * v_b + h // R * v_h
    mask += b * mask_b + h * mask_h
    query = loaded(q + b * q_b + h * q_h, i, q_n, N, D, WD, FD, False)
    do = loaded(dout + bh * N * E, i, E, N, E, WE, FE, False)
    p = numbered(places_q + b * N, i, N, PLACES)
    mine = numbered(texts_q + b * N, i, N, TEXTS)
    slope = tl.load(slopes + bh) if SLOPES else 0.0
    shift = tl.load(lse + bh * N + i, i < N, 0.0)
    shift = tl.where(shift == float("-inf"), 0.0, shift)[:, None]
    mean = tl.load(rows + bh * N + i, i < N, 0.0)[:, None]
    total = tl.zeros([BQ, WD], SUM)
    far = tl.zeros([BQ], SUM)
    lo, whole, past, hi = keys_of(i0, N, M, left, right, first, BQ, BK, LEFT, RIGHT, PLAIN)
    for part in tl.static_range(3):
        begin, end = stretch(part, lo, whole, past, hi)
        if (part == 0 and LEFT) or (part == 1 and PLAIN) or part == 2:
            for j0 in range(begin, end, BK):
                j = j0 + tl.arange(0, BK)
                key = loaded(k, j, k_n, M, D, WD, FD, part == 1)
                value = loaded(v, j, v_n, M, E, WE, FE, part == 1)
                r = numbered(places_k + b * M, j, M, PLACES)
                theirs = numbered(texts_k + b * M, j, M, TEXTS)
                qk = product(query, tl.trans(key), tl.zeros([BQ, BK], SUM), WIDE)
                s, bent = scores(
                    qk, i[:, None], j[None, :], p[:, None], r[None, :], mine[:, None],
                    theirs[None, :], mask, mask_n, mask_m, N, M, sigma, cap, slope,
                    left, right, first,
                    MASK, CAP, SLOPES, TEXTS, LEFT, RIGHT, part != 1,
                    LOWEST, WIDE,
                )  # fmt: skip
                a = tl.exp2(s - shift)
                da = product(do, tl.trans(value), tl.zeros([BQ, BK], SUM), WIDE)
                ds = a * (da - mean)
                if part != 1:
                    ds = tl.where(s == float("-inf"), 0.0, ds)
                if DMASK:
                    at = dmask + (bh * N + i[:, None]) * M + j[None, :]
                    tl.store(at, ds, (i < N)[:, None] & (j < M)[None, :])
                if DSLOPES:
                    far += tl.sum(ds * tl.abs(r[None, :] - p[:, None]).to(SUM), 1)
                if CAP:
                    ds *= bent
                ds = narrowed(ds, key.dtype, WIDE)
                total = mixed(ds, key, total, s != float("-inf"), not PLAIN, WIDE)
    stored(dq + bh * N * D, total * sigma, i, N, D, WD, WIDE)
    if DSLOPES:
        tl.store(moment + bh * N + i, far, i < N)


@triton.jit(do_not_specialize=FREE)
def by_keys(
    q, k, v, mask, slopes, places_q, places_k, texts_q, texts_k, lse, rows, dout, dk, dv,
    q_b, q_h, q_n, k_b, k_h, k_n, v_b, v_h, v_n, mask_b, mask_h, mask_n, mask_m,
    H, R, N, M, D, E, sigma, cap, left, right, first,
    WD: constexpr, WE: constexpr, FD: constexpr, FE: constexpr,
    BQ: constexpr, BK: constexpr,
    MASK: constexpr, CAP: constexpr, SLOPES: constexpr, TEXTS: constexpr, PLACES: constexpr,
    LEFT: constexpr, RIGHT: constexpr,
    SUM: constexpr, WIDE: constexpr, LOWEST: constexpr,
):  # fmt: skip
    """Store dk (B, G, M, D) and dv (B, G, M, E): a program for BK keys and all their queries."""
    PLAIN: constexpr = not (MASK or TEXTS or PLACES)
    j0 = tl.program_id(0) * BK
    bg = tl.program_id(1).to(tl.int64)
    G = H // R
    b, g = bg // G, bg % G
    j = j0 + tl.arange(0, BK)
    key = loaded(k + b * k_b + g * k_h, j, k_n, M, D, WD, FD, False)
    value = loaded(v + b * v_b + g * v_h, j, v_n, M, E, WE, FE, False)
    r = numbered(places_k + b * M, j, M, PLACES)
    theirs = numbered(texts_k + b * M, j, M, TEXTS)
    of_keys = tl.zeros([BK, WD], SUM)
    of_values = tl.zeros([BK, WE], SUM)
    lo, whole, past, hi = queries_of(j0, N, M, left, right, first, BQ, BK, LEFT, RIGHT, PLAIN)
    for r_h in range(R):
        h = g * R + r_h
        bh = b * H + h
        slope = tl.load(slopes + bh) if SLOPES else 0.0
        own = mask + b * mask_b + h * mask_h
        for part in tl.static_range(3):
            begin, end = stretch(part, lo, whole, past, hi)
            if (part == 0 and RIGHT) or (part == 1 and PLAIN) or part == 2:
                for i0 in range(begin, end, BQ):
                    i = i0 + tl.arange(0, BQ)
                    query = loaded(q + b * q_b + h * q_h, i, q_n, N, D, WD, FD, part == 1)
                    do = loaded(dout + bh * N * E, i, E, N, E, WE, FE, part == 1)
                    p = numbered(places_q + b * N, i, N, PLACES)
                    mine = numbered(texts_q + b * N, i, N, TEXTS)
                    shift = tl.load(lse + bh * N + i, i < N, 0.0)
                    shift = tl.where(shift == float("-inf"), 0.0, shift)[None, :]
                    mean = tl.load(rows + bh * N + i, i < N, 0.0)[None, :]
                    kq = product(key, tl.trans(query), tl.zeros([BK, BQ], SUM), WIDE)
                    s, bent = scores(
                        kq, i[None, :], j[:, None], p[None, :], r[:, None], mine[None, :],
                        theirs[:, None], own, mask_n, mask_m, N, M,
                        sigma, cap, slope, left, right, first,
                        MASK, CAP, SLOPES, TEXTS, LEFT, RIGHT, part != 1,
                        LOWEST, WIDE,
                    )  # fmt: skip
                    a = tl.exp2(s - shift)
                    of_values = product(narrowed(a, do.dtype, WIDE), do, of_values, WIDE)
                    da = product(value, tl.trans(do), tl.zeros([BK, BQ], SUM), WIDE)
                    ds = a * (da - mean)
                    if part != 1:
                        ds = tl.where(s == float("-inf"), 0.0, ds)
                    if CAP:
                        ds *= bent
                    of_keys = product(narrowed(ds, query.dtype, WIDE), query, of_keys, WIDE)
    stored(dk + bg * M * D, of_keys * sigma, j, M, D, WD, WIDE)
    stored(dv + bg * M * E, of_values, j, M, E, WE, WIDE)
