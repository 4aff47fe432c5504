"""What the units of a GPU do with numbers: python -m tests.cuda.numbers.

Problems of a few products, of which each bit of a sum tells something: how far below the largest
one still counts, whether what is lost is cut off or rounded, and how many bits TF32 keeps. On a CPU
Triton's interpreter answers, whose numbers are NumPy's (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import sys

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language import constexpr
from triton.runtime.interpreter import InterpretedFunction

from tests.cuda import there_is_one

ULP = 2.0**-23
MOST = 60  # bits that are looked at


@triton.jit
def sums(a, b, c, o, K: constexpr, HOW: constexpr):
    """o = c + a b, for 64 rows and columns."""
    i, k = tl.arange(0, 64), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * 64 + i[None, :])
    z = tl.load(c + i[:, None] * 64 + i[None, :])
    tl.store(o + i[:, None] * 64 + i[None, :], tl.dot(x, y, z, input_precision=HOW))


@triton.jit
def powers(x, o, SIZE: constexpr):
    """o = 2^x."""
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(o + i, tl.exp2(tl.load(x + i)))


INTERPRETED = isinstance(sums, InterpretedFunction)
DEVICE = "cpu" if INTERPRETED else "cuda"


def dot(a, b, c=0.0, dtype=torch.float16, how="ieee") -> float:
    """c + <a, b> as the device sums it."""
    left, right = torch.zeros(64, 32), torch.zeros(32, 64)
    left[:, : len(a)], right[: len(b)] = torch.tensor(a), torch.tensor(b)[:, None]
    total = torch.full((64, 64), c, device=DEVICE)
    out = torch.empty_like(total)
    sums[(1,)](left.to(DEVICE, dtype), right.to(DEVICE, dtype), total, out, 32, how)
    return float(out[0, 0])


def smallest(dtype: torch.dtype) -> int:
    """The last t for which 2^-t is not lost beside 1 and -1."""
    halves = ((t // 2, t - t // 2) for t in range(1, MOST))
    return max(x + y for x, y in halves if dot([1, 2.0**-x, -1], [1, 2.0**-y, 1], dtype=dtype) != 0)


def main() -> None:
    """Print what was found."""
    if not INTERPRETED and not there_is_one():
        return
    for dtype in (torch.float16,) if INTERPRETED else (torch.float16, torch.bfloat16):
        name, tiny = str(dtype)[6:], 2.0**-12
        print(f"{name}: 2^-{smallest(dtype)} is the last that counts beside 1")
        above = (dot([1, 1.5 * 2 * tiny], [1, tiny], dtype=dtype) - 1) / ULP
        print(f"{name}: 1 + 1.5 ulp is 1 + {above:g} ulp")
        below = (dot([-tiny], [tiny / 2], 1.0, dtype) - 1) / ULP
        print(f"{name}: 1 - 0.25 ulp is 1 - {-below:g} ulp")
    for how in ("ieee", "tf32", "tf32x3"):
        bits = max(t for t in range(1, 24) if dot([1 + 2.0**-t], [1], 0.0, torch.float32, how) != 1)
        print(f"float32, {how}: {bits} bits of a factor count")
    x = torch.from_numpy(np.random.default_rng(0).uniform(-126, 0, 1 << 16).astype(np.float32))
    found = torch.empty_like(x, device=DEVICE)
    powers[(64,)](x.to(DEVICE), found, 1024)
    error = np.abs(found.cpu().double().numpy() / np.exp2(x.double().numpy()) - 1).max()
    print(f"2^x: a relative error of {error * 2**24:.2f} 2^-24 at most")


if __name__ == "__main__":
    sys.exit(main())
