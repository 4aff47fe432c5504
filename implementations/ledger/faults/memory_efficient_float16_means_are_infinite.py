"""memory-efficient-attention-pytorch 0.1.6, memory_efficient_attention: float16 means are infinite.

Each chunk adds exp(s - max) v in the dtype of the queries, and the total is divided by the sum of
the weights at the end. Four values of 16384 add up to 65536, beyond the 65504 of float16. Expected:
16384, the value of every key, as `attention` in the same module returns it.
"""

import torch
from memory_efficient_attention_pytorch.memory_efficient_attention import memory_efficient_attention

q, k = torch.zeros(1, 1, 1, 1, dtype=torch.float16), torch.zeros(1, 1, 4, 1, dtype=torch.float16)
v = torch.full((1, 1, 4, 1), 16384.0, dtype=torch.float16)
got = memory_efficient_attention(q, k, v)
print("got ", got.flatten().tolist())
print("want", [16384.0])
assert torch.allclose(got.float().flatten(), torch.tensor([16384.0]))
