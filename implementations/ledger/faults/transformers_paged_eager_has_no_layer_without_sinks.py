"""transformers 5.24.0: attention "paged|eager" crashes where a layer's `sinks` are None.

Layers of MiMo-V2-Flash have `self.sinks = None` unless their window slides, and the family's own
`eager_attention_forward` asks `if module.sinks is not None`. `eager_paged_attention_forward` asks
`hasattr(module, "sinks")` instead, and reshapes None. Expected: one key has the weight 1.
"""

from types import SimpleNamespace

import torch
from transformers.integrations.eager_paged import eager_paged_attention_forward

q = k = v = torch.tensor([[[[1.0]]]])
layer = SimpleNamespace(num_key_value_groups=1, training=False, sinks=None)
try:
    out, _ = eager_paged_attention_forward(layer, q, k, v, None, scaling=1.0)
    got: object = out.item()
except AttributeError as error:
    got = str(error)

print(f"got {got}, want 1.0")
assert got == 1.0
