"""memory-efficient-attention-pytorch 0.1.6: `memory_efficient=True` changes the causal alignment.

With fewer queries than keys, `attention` is bottom-right: the last query may attend to the last
key. `memory_efficient_attention` is top-left: the first query may attend to the first key only.
Expected: one answer.
"""

import torch
from memory_efficient_attention_pytorch.memory_efficient_attention import (
    attention,
    memory_efficient_attention,
)

q, k = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[0.0], [1.0]]]])
got = memory_efficient_attention(q, k, v, causal=True)
want = attention(q, k, v, causal=True)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
