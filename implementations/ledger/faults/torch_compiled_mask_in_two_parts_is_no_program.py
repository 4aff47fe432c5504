"""torch 2.13.0, torch.compile on a CPU: a mask that is written in two parts is refused by g++.

Inductor chooses between the parts as numbers of a vector, of which one is a VecMask<int, 1> and the
other a VecMask<float, 1>: "operands to '?:' have different types". That is C++ of its own making,
and an InductorError; either part alone compiles. Expected: what it returns without torch.compile.
"""

import torch


def seen(rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Which columns some row of the same number may see: those near it, and the first two."""
    band = torch.ones(32, 9, dtype=torch.bool).triu(-4)
    band[:, :2] = torch.ones(32, 2, dtype=torch.bool).tril(8)
    return (band & (rows[:, None] == columns)).any(0)


texts = torch.zeros(32, dtype=torch.int32), torch.zeros(9, dtype=torch.int32)
want = seen(*texts).tolist()
print(f"want {want}")
got = torch.compile(seen)(*texts).tolist()
print(f"got {got}")
assert got == want
