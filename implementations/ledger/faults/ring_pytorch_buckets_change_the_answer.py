"""ring-attention-pytorch 0.5.20, ring_flash_attn: causal, fewer queries than keys, by bucket_size.

In one bucket the last query sees the last key; in several, the diagonal of each is moved by what
the bucket itself has more keys than queries, and later buckets are hidden. Expected: the number of
keys to a bucket is no matter, as it is where there are as many queries as keys.
"""

import torch
from ring_attention_pytorch import ring_flash_attn

q, k = torch.zeros(1, 1, 1, 1), torch.zeros(1, 3, 1, 1)
v = torch.tensor([[[[0.0]], [[0.0]], [[3.0]]]])
got, want = (ring_flash_attn(q, k, v, causal=True, bucket_size=size) for size in (2, 1024))
print("got ", got.flatten().tolist())
print("want", want.flatten().tolist())
assert torch.allclose(got, want)
