"""transformers 5.24.0: V-JEPA 2's eager attention ignores `attention_mask`.

`attention_mask` is a parameter of `eager_attention_forward`, and of VJEPA2PoolerSelfAttention and
VJEPA2PoolerCrossAttention, which pass it on. "sdpa" respects it. Here it hides the second key,
whose value is 1. (The model itself passes None.)
"""

from types import SimpleNamespace

import torch
from transformers.models.vjepa2.modeling_vjepa2 import eager_attention_forward

q, k = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[0.0], [1.0]]]])
mask = torch.tensor([[[[0.0, -1e4]]]])
out, _ = eager_attention_forward(SimpleNamespace(training=False), q, k, v, mask, scaling=1.0)

print(f"got {out.item()}, want 0.0")
assert out.item() == 0.0
