"""The arguments of the kernels of `implementations.fused_triton`, and their launch."""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.runtime.interpreter import InterpretedFunction

from implementations.arguments import Sight
from implementations.arguments_torch import accumulator, steep
from implementations.gradients_triton import by_keys
from implementations.kernels_triton import forward
from implementations.tiles_triton import FARTHEST, NOBODY

INTERPRETED = isinstance(forward, InterpretedFunction)
SUMS = {torch.float32: tl.float32, torch.float64: tl.float64}


class Asked(NamedTuple):
    """Options that are not differentiated.

    texts, stand: segments and positions of queries (B, N) and of keys (B, M), None for none
    sigma: the scale    R: H / G    lse: whether it is returned
    """

    window: Sight
    sigma: float
    R: int
    softcap: float | None
    texts: tuple[Tensor, Tensor] | None
    stand: tuple[Tensor, Tensor] | None
    lse: bool = False


def launch(kernel: Any, length: int, heads: int, told: dict[str, Any], **arrays: Any) -> None:
    """Run a kernel, with a program for each block of each head; do nothing for empty arrays."""
    if not length * heads:
        return
    given = told | {name: 0 if x is None else x for name, x in arrays.items()}
    asked = {"DLSE": "dlse", "DMASK": "dmask", "DSLOPES": "moment"}
    given |= {flag: arrays.get(name) is not None for flag, name in asked.items()}
    given |= blocks(kernel, given)
    known = {name: given[name] for name in (*kernel.arg_names, *LAUNCH) if name in given}
    size = given["BK"] if kernel is by_keys else given["BQ"]
    kernel[triton.cdiv(length, size), heads](**known)


def keywords(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, slopes: Tensor | None, asked: Asked
) -> dict[str, Any]:
    """Return the arguments that all kernels share, by name."""
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
    """Return the bounds of the window, and which of them the compiler may leave out.

    plain: only row numbers mask keys. Otherwise one kernel takes all windows, to limit the number
    of kernels. A missing bound is then a number that no distance exceeds.
    """
    left, right, first = window
    known, most = {"LEFT": left, "RIGHT": right}, FARTHEST.value
    told = {name.lower(): most if x is None else min(x, most) for name, x in known.items()}
    told |= {name: not plain or x is not None for name, x in known.items()}
    return told | {"first": min(first, most) or NOBODY}


def wide(width: int) -> int:
    """Return the width of a tile: a power of 2, and at least 16, as `tl.dot` requires."""
    return max(16, 1 << (width - 1).bit_length())


def blocks(kernel: Any, given: dict[str, Any]) -> dict[str, int]:
    """Return how many queries and keys a tile has, and the numbers of warps and stages.

    The fastest of about ten choices on an H200 in bfloat16. Tiles are small for 32 and more bits,
    which tensor cores do not multiply without rounding, and for wider heads.
    """
    if INTERPRETED:  # small, to have several tiles, but not a hundred
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
