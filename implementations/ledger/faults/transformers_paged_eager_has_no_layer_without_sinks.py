"""transformers 5.24.0: attention "paged|eager" crashes if `sinks` of a layer is None.

Layers of MiMo-V2-Flash have `self.sinks = None` unless they have a sliding window, and their own
`eager_attention_forward` checks `if module.sinks is not None`. `eager_paged_attention_forward`
checks `hasattr(module, "sinks")` instead, and then reshapes None. Expected: one key has the weight
1.
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
