"""How fast our kernels are beside torch's: python -m tests.cuda.speed.

TFLOP/s in bfloat16, counted as 4 B H N^2 D forward and 10 B H N^2 D backward, half of it where
causal, and for a window of what it leaves; medians, all in one run.
"""

from itertools import product

import torch

from oracles import sdpa
from tests.cuda import there_is_one

WIDTHS, LENGTHS, WINDOW = (64, 128), (1024, 2048, 4096, 8192, 16384), 1024


def main() -> None:
    """Print a row for each width, mask and length."""
    if not there_is_one():
        return
    from implementations.fused_triton import attend

    print("D, causal, N: ours, flash, cuDNN, forward and backward")
    for D, causal, N in product(WIDTHS, (False, True), LENGTHS):
        pairs = N * N / 2 if causal else N * N
        ways = attend, sdpa.flash, sdpa.cudnn
        found = [timed(way, D, N, pairs, is_causal=causal) for way in ways]
        print(f"{D} {causal} {N}: " + ", ".join(f"{f:.0f} {b:.0f}" for f, b in found), flush=True)
    for D, N in product(WIDTHS, LENGTHS[-2:]):
        pairs = sum(min(i, WINDOW) + 1 for i in range(N))
        f, b = timed(attend, D, N, pairs, is_causal=True, window_size=(WINDOW, 0))
        print(f"{D} a window of {WINDOW}, {N}: {f:.0f} {b:.0f}", flush=True)


def timed(function, D: int, N: int, pairs: float, **options) -> tuple[float, float]:
    """TFLOP/s forward and backward."""
    from triton.testing import do_bench

    B, H = (4, 16) if N <= 4096 else (2, 16)
    made = {"device": "cuda", "dtype": torch.bfloat16}
    q, k, v = (torch.randn(B, H, N, D, requires_grad=True, **made) for _ in range(3))
    dout, flops = torch.randn(B, H, N, D, **made), 4 * B * H * pairs * D
    with torch.no_grad():
        forward = do_bench(lambda: function(q, k, v, **options), return_mode="median")
    out = function(q, k, v, **options)

    def back():
        torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)

    backward = do_bench(back, return_mode="median")
    return flops / forward / 1e9, 2.5 * flops / backward / 1e9


if __name__ == "__main__":
    main()
