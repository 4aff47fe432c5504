"""Attention over a batch of no sequences is None where cuDNN is taken, by default."""

import torch
from torch.nn.functional import scaled_dot_product_attention

q = torch.zeros(0, 1, 2, 64, dtype=torch.bfloat16, device="cuda")
got = scaled_dot_product_attention(q, q, q)
print(f"got {got}, want an array of the shape {tuple(q.shape)}")
assert got is not None
