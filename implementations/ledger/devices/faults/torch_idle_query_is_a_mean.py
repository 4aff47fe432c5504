"""A query from which all keys are hidden gets the mean of their values; on a CPU, zero."""

import torch
from torch.nn.functional import scaled_dot_product_attention

q = torch.zeros(1, 1, 2, 16, dtype=torch.bfloat16)
v = torch.full_like(q, 3.0)
mask = torch.tensor([[False, False], [True, True]])
got = scaled_dot_product_attention(q.cuda(), q.cuda(), v.cuda(), mask.cuda()).cpu()
want = scaled_dot_product_attention(q, q, v, mask)
print(f"got {got[0, 0, 0, 0].item()}, want {want[0, 0, 0, 0].item()}")
assert torch.equal(got, want)
