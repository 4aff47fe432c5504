"""x-transformers 2.31.10, Attend(flash=True, causal=True): a low bias loses to the future.

Where `attn_bias` is given, what causality hides gets half of the lowest number, so that a visible
key whose bias is lower than that (the lowest number, as many additive masks have it) weighs nothing
beside a key of the future. Expected: a query that sees one key returns its value.
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
