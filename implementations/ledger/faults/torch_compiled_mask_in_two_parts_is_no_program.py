"""torch 2.13.0, torch.compile on a CPU: g++ rejects the code for a mask assigned in two parts.

Inductor selects between the parts as elements of a vector: one is a VecMask<int, 1> and the other a
VecMask<float, 1>, and g++ reports "operands to '?:' have different types". Inductor generates this
C++ itself and raises an InductorError. Either part alone compiles. Expected: the result without
torch.compile.
"""

import torch


def seen(rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """True for columns that some row sees: a row nearby, or any row for the first two columns.

    A row sees only columns with the same number.
    """
    band = torch.ones(32, 9, dtype=torch.bool).triu(-4)
    band[:, :2] = torch.ones(32, 2, dtype=torch.bool).tril(8)
    return (band & (rows[:, None] == columns)).any(0)


texts = torch.zeros(32, dtype=torch.int32), torch.zeros(9, dtype=torch.int32)
want = seen(*texts).tolist()
print(f"want {want}")
got = torch.compile(seen)(*texts).tolist()
print(f"got {got}")
assert got == want
