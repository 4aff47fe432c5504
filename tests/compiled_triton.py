"""The kernels in Triton, compiled for a GPU without having one: python -m tests.compiled_triton.

What the interpreter runs need not compile: there a number may be of one format on one path, and of
another on the next.
"""

from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from implementations import launching_triton as fused
from implementations.arguments import sight
from implementations.gradients_triton import by_keys, by_queries
from implementations.kernels_triton import FREE, forward, inner

HOPPER = GPUTarget("cuda", 90, 32)
FORMATS = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.int64: "i64", torch.uint8: "u8"}
B, H, N, M, D, E = 2, 4, 64, 48, 64, 48
TOKENS = torch.zeros(B, N, dtype=torch.int64), torch.zeros(B, M, dtype=torch.int64)
ASKED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a window": {"window": sight(True, (3, 0), 2)},
    "a soft-cap": {"softcap": 2.0},
    "slopes": {"slopes": torch.ones(H)},
    "texts": {"texts": TOKENS},
    "positions": {"stand": TOKENS},
    "truth values": {"mask": torch.ones(N, M, dtype=torch.bool)},
    "biases": {"mask": torch.zeros(B, 1, 1, M)},
}


def main() -> None:
    """Compile each kernel for each option; Triton raises what it cannot do."""
    fused.INTERPRETED, count = False, 0
    for options in ASKED.values():
        for kernel in (forward, inner, by_queries, by_keys):
            compiled(kernel, **options)
            count += 1
    print(f"{count} kernels compile for sm_90")


def compiled(
    kernel: Any,
    window: Any = sight(True),  # noqa: B008 - a tuple
    softcap: float | None = None,
    texts: Any = None,
    stand: Any = None,
    mask: Any = None,
    slopes: Any = None,
) -> Any:
    """A kernel as it is compiled for what is asked."""
    q, k, v = (torch.empty(B, H, *x, dtype=torch.bfloat16) for x in ((N, D), (M, D), (M, E)))
    asked = fused.Asked(window, 0.125, 1, softcap, texts, stand)
    told, rows = fused.keywords(q, k, v, mask, slopes, asked), torch.empty(B, H, N)
    told |= {"sinks": torch.ones(H), "sunk": H, "FLIP": False}
    told |= {"o": v, "dout": v, "lse": rows, "rows": rows, "dq": q, "dk": k, "dv": v, "WIDE": False}
    told |= {
        "dmask": rows,
        "moment": rows,
        "dlse": rows,
        "DLSE": mask is not None,
        "DMASK": mask is not None,
        "DSLOPES": slopes is not None,
    }
    told |= fused.blocks(kernel, told)
    types, known, divided = {}, {}, {}
    for place, parameter in enumerate(kernel.params):
        x = told[parameter.name]
        types[parameter.name] = typed(x, parameter)
        if types[parameter.name] == "constexpr":
            known[parameter.name] = x
        elif isinstance(x, torch.Tensor) or (x % 16 == 0 and parameter.name not in FREE):
            divided[(place,)] = [["tt.divisibility", 16]]
    how = {name: told[name] for name in fused.LAUNCH}
    return triton.compile(ASTSource(kernel, types, known, divided), target=HOPPER, options=how)


def typed(x: Any, parameter: Any) -> str:
    """How a compiler writes the type of an argument."""
    if parameter.is_constexpr or (isinstance(x, int) and x == 1 and parameter.name not in FREE):
        return "constexpr"
    if isinstance(x, torch.Tensor):
        return "*" + FORMATS[x.dtype]
    return "fp32" if isinstance(x, float) else "i32"


if __name__ == "__main__":
    main()
