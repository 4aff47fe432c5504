"""memory-efficient-attention-pytorch 0.1.6: a bias of -inf for all keys of a chunk gives NaN.

The largest score of that chunk is -inf, and it is subtracted from -inf. Expected: the result of
`attention` for the same bias. (A chunk has 1024 keys by default.)
"""

import torch
from memory_efficient_attention_pytorch.memory_efficient_attention import (
    attention,
    memory_efficient_attention,
)

q, k = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 2, 1)
v, bias = torch.tensor([[[[1.0], [2.0]]]]), torch.tensor([[[[0.0, -torch.inf]]]])
got = memory_efficient_attention(q, k, v, attn_bias=bias, k_bucket_size=1)
want = attention(q, k, v, attn_bias=bias)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
