"""transformers 5.24.0: flex attention gives every head the mask of the first one.

`flex_attention_forward` adds `score_mask[batch_idx][0][q_idx][kv_idx]`. It thus uses head 0 of a
mask (batch, heads, queries, keys) for all heads, without a message. The functions for "eager" and
"sdpa" respect such a mask. Here the mask hides the second key, whose value is 1, from the second
head only.
"""

from types import SimpleNamespace

import torch
from transformers.integrations.flex_attention import flex_attention_forward

q, k = torch.zeros(1, 2, 1, 1), torch.zeros(1, 2, 2, 1)
v = torch.tensor([0.0, 1.0]).view(1, 1, 2, 1).expand(1, 2, 2, 1).contiguous()
mask = torch.tensor([[0.0, 0.0], [0.0, -1e4]]).view(1, 2, 1, 2)
layer = SimpleNamespace(training=False)
with torch.compiler.set_stance("force_eager"):  # the same result when compiled
    out, _ = flex_attention_forward(layer, q, k, v, mask, scaling=1.0)

print(f"got {out.flatten().tolist()}, want [0.5, 0.0]")
assert out.flatten().tolist() == [0.5, 0.0]
