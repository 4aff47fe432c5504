"""torch 2.13.0, torch.compile: a reversed slice of a NumPy array starts at the wrong element.

x[-2::-1] is x without its last number, reversed; compiled, it is x without its first number. Slices
that begin and end where the array does are correct. torch reverses the array and swaps the bounds,
but does not count them from the other end (`torch._numpy`, ndarray.__getitem__), and gives no
warning. Expected: the result of NumPy, as "torch.compile understands native NumPy programs" (its
FAQ).
"""

import torch

x = torch.arange(6)


def without_the_last(x: torch.Tensor) -> torch.Tensor:
    """All numbers except the last, reversed."""
    return torch.from_numpy(x.numpy()[-2::-1].copy())


want = without_the_last(x).tolist()
print(f"want {want}")
got = torch.compile(without_the_last)(x).tolist()
print(f"got {got}")
assert got == want
