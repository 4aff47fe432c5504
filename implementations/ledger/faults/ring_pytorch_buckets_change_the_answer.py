"""ring-attention-pytorch 0.5.20, ring_flash_attn: bucket_size changes causal results if N < M.

In one bucket the causal alignment is bottom-right: the last query may attend to the last key. With
several buckets, each bucket shifts the diagonal by the number of its keys minus the number of
queries, and later buckets are masked. Expected: the size of a bucket does not change the result, as
is the case with equally many queries and keys.
"""

import torch
from ring_attention_pytorch import ring_flash_attn

q, k = torch.zeros(1, 1, 1, 1), torch.zeros(1, 3, 1, 1)
v = torch.tensor([[[[0.0]], [[0.0]], [[3.0]]]])
got, want = (ring_flash_attn(q, k, v, causal=True, bucket_size=size) for size in (2, 1024))
print("got ", got.flatten().tolist())
print("want", want.flatten().tolist())
assert torch.allclose(got, want)
