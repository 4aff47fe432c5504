"""x-transformers 2.31.10, Attend(flash=True, causal=True): a low bias loses to the future.

If there is an `attn_bias`, causality sets masked scores to half of the lowest number. Many additive
masks use the lowest number itself, so that a visible key with such a bias has no weight next to a
future key. Expected: a query that may attend to one key returns its value.
"""

import torch
from x_transformers.attend import Attend

q, k = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[1.0], [2.0]]]])
bias = torch.tensor([[[[torch.finfo(torch.float32).min, 0.0], [0.0, 0.0]]]])
got, _ = Attend(flash=True, causal=True)(q, k, v, attn_bias=bias)
print("got ", got.flatten().tolist())
print("want", [1.0, 1.5])
assert torch.allclose(got.flatten(), torch.tensor([1.0, 1.5]))
