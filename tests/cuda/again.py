"""Whether a hundred calls return the same bits: python -m tests.cuda.again.

torch promises as much of nothing here; what differs is a race, or sums in an order that changes.
"""

import torch
from torch import Tensor

from oracles import sdpa
from tests.cuda import there_is_one

CALLS = 100
SHAPES = (2, 4, 1024, 1024, 64, True), (1, 2, 333, 777, 128, False), (1, 1, 100, 4096, 64, False)
WAYS = {"math": sdpa.math, "flash": sdpa.flash, "efficient": sdpa.efficient, "cudnn": sdpa.cudnn}
FORMATS = torch.float32, torch.float16, torch.bfloat16


def main() -> None:
    """Print, for each kernel, format and shape, which results always are the same."""
    if not there_is_one():
        return
    from implementations.fused_triton import attend

    for name, function in {**WAYS, "triton": attend}.items():
        for dtype in FORMATS:
            for B, H, N, M, D, causal in SHAPES:
                try:
                    found = repeated(function, (B, H, N, M, D), causal, dtype)
                except RuntimeError as error:
                    found = f"refused: {str(error).splitlines()[0]}"
                print(name, str(dtype)[6:], (B, H, N, M, D), causal, found, flush=True)


def repeated(function, sizes, causal: bool, dtype: torch.dtype) -> str:
    """Which of the output and the gradients have the same bits in every call."""
    B, H, N, M, D = sizes
    torch.manual_seed(0)
    made = {"device": "cuda", "dtype": dtype}
    q, k, v = (torch.randn(B, H, n, D, requires_grad=True, **made) for n in (N, M, M))
    dout = torch.randn(B, H, N, D, **made)

    def call() -> list[Tensor]:
        out = function(q, k, v, is_causal=causal)
        return [out.detach(), *torch.autograd.grad(out, (q, k, v), dout)]

    first = call()
    same = [True] * len(first)
    for _ in range(CALLS - 1):
        same = [s and torch.equal(x, y) for s, x, y in zip(same, call(), first, strict=True)]
    names = ("out", "dq", "dk", "dv")
    return ", ".join(n if s else f"{n} differs" for n, s in zip(names, same, strict=True))


if __name__ == "__main__":
    main()
