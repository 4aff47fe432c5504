"""memory-efficient-attention-pytorch 0.1.6, FlashAttentionFunction: wrong causality with a past.

The difference of the lengths is subtracted from the positions of the queries, where it should be
added. A single query after two keys gets the position -1, may attend to neither key, and returns
their mean. Expected: the result of `attention` in the same package, in which the last query may
attend to every key.
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
