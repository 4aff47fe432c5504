"""memory-efficient-attention-pytorch 0.1.6, FlashAttentionFunction, causal with a past.

The difference of the lengths is taken off the places of the queries where it should be added: a
single query after two keys is said to stand at place -1, sees neither, and returns their mean.
Expected: what the package's own `attention` returns, which lets the last query see every key.
"""

import torch
from memory_efficient_attention_pytorch.flash_attention import FlashAttentionFunction
from memory_efficient_attention_pytorch.memory_efficient_attention import attention

q, k = torch.ones(1, 1, 1, 1), torch.tensor([[[[1.0], [0.0]]]])
got = FlashAttentionFunction.apply(q, k, k, None, True, 512, 1024)
want = attention(q, k, k, causal=True)  # e / (e + 1)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
