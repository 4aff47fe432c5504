"""memory-efficient-attention-pytorch 0.1.6, FlashAttentionFunction without keys divides 0 by 0.

If every key is masked, it returns zeros. Expected: the same if there are no keys.
"""

import torch
from memory_efficient_attention_pytorch.flash_attention import FlashAttentionFunction

q, empty = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 0, 1)
got = FlashAttentionFunction.apply(q, empty, empty, None, False, 512, 1024)
print("got ", got.tolist())
print("want", [[[[0.0]]]])
assert not got.any()
