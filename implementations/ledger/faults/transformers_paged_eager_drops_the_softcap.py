"""transformers 5.24.0: attention "paged|eager" ignores `softcap`, so that Gemma 2 is not Gemma 2.

With `generate_batch` (continuous batching) a model with "eager" attention is switched to
`eager_paged_attention_forward`. This function accepts `**kwargs` and ignores `softcap`, although
Gemma2Attention passes it; `sdpa_attention_forward` raises a ValueError in the same case. Here the
scores are 0 and 2. Soft-capped at 1 they are 0 and tanh 2 = 0.9640, and the weight of the second
key is 0.7239.
"""

from types import SimpleNamespace

import numpy as np
import torch
from transformers.integrations.eager_paged import eager_paged_attention_forward

q = torch.tensor([[[[2.0]]]])
k = v = torch.tensor([[[[0.0], [1.0]]]])
layer = SimpleNamespace(num_key_value_groups=1, training=False)
out, _ = eager_paged_attention_forward(layer, q, k, v, None, scaling=1.0, softcap=1.0)

got, want = out.item(), 1 / (1 + np.exp(-np.tanh(2.0)))
print(f"got {got:.4f}, want {want:.4f}")
assert abs(got - want) < 1e-5
