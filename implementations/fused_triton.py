"""Tile by tile in Triton, on a GPU, or on a CPU in Triton's interpreter.

    o_i = sum_j exp2(s_ij - m_i) v_j / l_i    l_i = sum_j exp2(s_ij - m_i)

with m_i the largest score so far, by which the output is made smaller when it rises (Milakov and
Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1). Backward, the weights are computed
again from the log-sum-exp, as exp2(s_ij - lse_i) (Dao 2023, algorithm 2). Products of 16-bit
numbers are summed in float32, and weights are rounded to the format of the values before they
meet them.
"""

from math import log
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad
from triton.runtime.interpreter import InterpretedFunction

from implementations.arguments import UNBOUNDED, Sight, Window, factor, group, positive, sight
from implementations.arguments_torch import accumulator, by_slopes, labelled, places, steep, sunk
from implementations.gradients_triton import by_keys, by_queries
from implementations.kernels_triton import forward, inner
from implementations.tiles_triton import FARTHEST, NOBODY

INTERPRETED = isinstance(forward, InterpretedFunction)
SUMS = {torch.float32: tl.float32, torch.float64: tl.float64}
STEP = 16  # numbers that are read at once, or twice as many as are


class Asked(NamedTuple):
    """What is asked and is no number to differentiate by.

    texts, stand: segments and positions of queries (B, N) and of keys (B, M), None for none
    sigma: the scale    R: H / G
    """

    window: Sight
    sigma: float
    R: int
    softcap: float | None
    texts: tuple[Tensor, Tensor] | None
    stand: tuple[Tensor, Tensor] | None


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
    query_positions: Tensor | None = None,
    key_positions: Tensor | None = None,
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """o_i = sum_j a_ij v_j in memory that does not grow with N M.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E); with return_lse, the
    log-sum-exp (B, H, N) comes as well, as accumulated, -inf for an idle query.
    The options are those of `implementations.dense.attend`, which says what each of them means, and
    raises what they raise.
    What is added to the scores, or stands beside them, gets a gradient: masks, slopes and sinks.
    That of a mask takes memory of N M.
    """
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    R, window = group(H, G, enable_gqa), sight(is_causal, window_size, sink_size)
    texts = labelled(query_segments, key_segments, (B, N, M))
    stand = places(query, key, query_positions, key_positions)
    if stand is not None:
        stand = stand[0].expand(B, 1, N, 1)[:, 0, :, 0], stand[1].expand(B, 1, 1, M)[:, 0, 0]
    if softcap is not None:
        positive(softcap)
    if query.dtype == torch.float64 and query.is_cuda:
        raise TypeError("float64 is computed in Triton's interpreter alone, on a CPU")
    asked = Asked(window, factor(scale, D), R, softcap, texts, stand)
    arrays = *(padded(x) for x in (query, key, value)), attn_mask, sinks, alibi_slopes
    o, lse = Fused.apply(*arrays, asked)  # type: ignore[no-untyped-call]
    o = o[..., : value.shape[3]].contiguous()
    return (o, lse) if return_lse else o


def lse(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
    """log (exp(t_h) + sum_j exp(s_ij)), -inf for an idle query, as accumulated.   (B, H, N)"""
    return attend(query, key, value, **options, return_lse=True)[1]


def padded(x: Tensor) -> Tensor:
    """x with zeros behind its width, up to a multiple of 16.   (B, H, N, C)"""
    return pad(x, (0, -x.shape[3] % STEP)) if x.shape[3] % STEP else x


def aligned(x: Tensor) -> Tensor:
    """x, or a copy whose rows begin where many numbers are read at once.

    That is at multiples of 16 bytes, and 16 numbers apart, as the compiler knows of steps whether
    16 divides them and no more. Where it does not, numbers are read one by one, which takes longer;
    and values in rows of 9 gave another output (bfloat16, Triton 3.6.0, an H200).
    """
    steps = zip(x.shape, x.stride(), strict=True)
    whole = all(step % STEP == 0 for n, step in list(steps)[:-1] if n > 1)
    at_once = whole and x.stride(-1) == 1 and x.data_ptr() % 16 == 0
    return x if at_once else x.clone(memory_format=torch.contiguous_format)


class Fused(torch.autograd.Function):
    """Attention whose backward pass computes the weights again."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        sinks: Tensor | None,
        slopes: Tensor | None,
        asked: Asked,
    ) -> tuple[Tensor, Tensor]:
        """o (B, H, N, E) in the dtype of q, and lse (B, H, N)."""
        q, k, v = (aligned(x) for x in (q, k, v))
        (B, H, N, _), o = q.shape, q.new_empty(*q.shape[:3], v.shape[3])
        bits = q.new_empty(B, H, N, dtype=accumulator(q.dtype))
        told = keywords(q, k, v, mask, slopes, asked)
        told |= {"sigma": abs(asked.sigma), "FLIP": asked.sigma < 0, "sinks": sunk(sinks, H, bits)}
        launch(forward, N, B * H, told, o=o, lse=bits)
        ctx.asked = asked
        ctx.save_for_backward(q, k, v, mask, sinks, slopes, o, bits)
        return o, log(2) * bits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
        """The derivatives of <dout, o> + <dlse, lse> by q, k, v, and those asked of the others."""
        q, k, v, mask, sinks, slopes, o, bits = ctx.saved_tensors
        (B, H, N, _), (_, G, M, _) = q.shape, k.shape
        dout, rows = aligned(dout.contiguous()), torch.empty_like(bits)
        told = keywords(q, k, v, mask, slopes, ctx.asked)
        launch(inner, N, B * H, told, dout=dout, o=o, dlse=dlse.contiguous(), rows=rows)
        told |= {"lse": bits, "rows": rows, "dout": dout}
        dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
        of_mask, of_sinks, of_slopes = ctx.needs_input_grad[3:6]
        dmask = bits.new_zeros(B, H, N, M) if of_mask else None
        moment = torch.zeros_like(bits) if of_slopes else None
        launch(by_queries, N, B * H, told, dq=dq, dmask=dmask, moment=moment)
        launch(by_keys, M, B * G, told, dk=dk, dv=dv)
        dmask = None if dmask is None else dmask.sum_to_size(mask.shape).to(mask.dtype)
        dsinks = by_sinks(rows, sinks, bits) if of_sinks else None
        dslopes = None if moment is None else by_slopes(moment.sum(-1), slopes).to(slopes.dtype)
        return dq, dk, dv, dmask, dsinks, dslopes, None


def launch(kernel: Any, length: int, heads: int, told: dict[str, Any], **arrays: Any) -> None:
    """Run a kernel: a program for each block of the length, in each head; none for no numbers."""
    if not length * heads:
        return
    given = told | {name: 0 if x is None else x for name, x in arrays.items()}
    given |= {"DMASK": arrays.get("dmask") is not None, "DSLOPES": arrays.get("moment") is not None}
    given |= blocks(kernel, given)
    known = {name: given[name] for name in (*kernel.arg_names, *LAUNCH) if name in given}
    size = given["BK"] if kernel is by_keys else given["BQ"]
    kernel[triton.cdiv(length, size), heads](**known)


def keywords(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, slopes: Tensor | None, asked: Asked
) -> dict[str, Any]:
    """What every kernel is told, by the names of its arguments."""
    (B, H, N, D), M, E = q.shape, k.shape[2], v.shape[3]
    work = accumulator(q.dtype)
    m = steep(slopes, q.shape, q.new_empty(0, dtype=work))
    whole = None if mask is None else mask.expand(B, H, N, M)
    truth = whole is not None and whole.dtype == torch.bool
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "H": H, "N": N, "M": M, "D": D, "E": E}
    given |= {"mask": 0 if whole is None else whole.view(torch.uint8) if truth else whole}
    for name, x in (("q", q), ("k", k), ("v", v), ("mask", whole)):
        steps = (0,) * 4 if x is None else x.stride()
        given |= dict(zip((f"{name}_b", f"{name}_h", f"{name}_n", f"{name}_m"), steps, strict=True))
    for name, pair in (("places", asked.stand), ("texts", asked.texts)):
        ours, theirs = (0, 0) if pair is None else (x.long().contiguous() for x in pair)
        given |= {f"{name}_q": ours, f"{name}_k": theirs, name.upper(): pair is not None}
    given |= {"slopes": 0 if m is None else m.contiguous(), "SLOPES": m is not None}
    given |= {"sigma": asked.sigma, "cap": asked.softcap or 1.0, "CAP": asked.softcap is not None}
    given |= {"R": asked.R, "MASK": 0 if whole is None else 1 if truth else 2}
    given |= bounds(asked.window, plain=not (given["MASK"] or given["TEXTS"] or given["PLACES"]))
    given |= {"SUM": SUMS[work], "LOWEST": torch.finfo(work).min, "WIDE": INTERPRETED}
    return given | {"WD": wide(D), "WE": wide(E), "FD": wide(D) == D, "FE": wide(E) == E}


def bounds(window: Sight, plain: bool) -> dict[str, int | bool]:
    """Which keys may be seen, and of what the compiler knows that it bounds nothing.

    plain: by their rows alone. Where anything else hides keys, one kernel takes every window, as
    there would be too many of them: a bound that is none is a number that nothing exceeds.
    """
    left, right, first = window
    known, most = {"LEFT": left, "RIGHT": right}, FARTHEST.value
    told = {name.lower(): most if x is None else min(x, most) for name, x in known.items()}
    told |= {name: not plain or x is not None for name, x in known.items()}
    return told | {"first": min(first, most) or NOBODY}


def wide(width: int) -> int:
    """A width as tiles have it: a power of 2, and 16 at least, as products of tiles ask for."""
    return max(16, 1 << (width - 1).bit_length())


def blocks(kernel: Any, given: dict[str, Any]) -> dict[str, int]:
    """How many queries and keys a tile has, by how many warps, in how many stages it is computed.

    What was fastest on an H200 in bfloat16, of about ten ways; small ones where numbers have 32
    bits and more, which no tensor core multiplies as they are, and where heads are wider.
    """
    if INTERPRETED:  # small, so that there are several; but not a hundred
        size = 16 if max(given["N"], given["M"]) <= 256 else 64
        return {"BQ": size, "BK": size}
    width, bits = max(given["WD"], given["WE"]), given["q"].element_size() * 8
    name = kernel.__name__ if bits == 16 and width <= 128 else ""
    found = MEASURED.get((name, max(64, width)), (32, 32, 4, 2))
    return dict(zip(("BQ", "BK", *LAUNCH), found, strict=True))


LAUNCH = "num_warps", "num_stages"
MEASURED = {
    ("forward", 64): (64, 64, 4, 3),
    ("forward", 128): (64, 64, 4, 3),
    ("by_queries", 64): (64, 64, 4, 3),
    ("by_queries", 128): (128, 64, 8, 3),
    ("by_keys", 64): (64, 64, 4, 3),
    ("by_keys", 128): (32, 64, 4, 3),
}


def by_sinks(rows: Tensor, sinks: Tensor, bits: Tensor) -> Tensor:
    """-sum_bi exp(t_h - lse_bhi) rows_bhi, in the dtype of the sinks.   (H,)"""
    t = sunk(sinks, bits.shape[1], bits)[:, None]
    share = (t - log(2) * bits.masked_fill(bits.isneginf(), 0)).exp()
    return -(share * rows).sum((0, 2)).to(sinks.dtype)
