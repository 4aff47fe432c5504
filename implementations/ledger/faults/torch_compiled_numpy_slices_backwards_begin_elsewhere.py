"""torch 2.13.0, torch.compile: a NumPy array that is read backwards is read from another place.

x[-2::-1] is x without its last number, backwards; compiled it is x without its first one. Slices
that begin and end where the array does are right. torch turns the array round and swaps the bounds,
without counting them from the other end (`torch._numpy`, ndarray.__getitem__), and says nothing.
Expected: what NumPy returns, as "torch.compile understands native NumPy programs" (its FAQ).
"""

import torch

x = torch.arange(6)


def without_the_last(x: torch.Tensor) -> torch.Tensor:
    """All numbers but the last, backwards."""
    return torch.from_numpy(x.numpy()[-2::-1].copy())


want = without_the_last(x).tolist()
print(f"want {want}")
got = torch.compile(without_the_last)(x).tolist()
print(f"got {got}")
assert got == want
