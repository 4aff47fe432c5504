"""transformers 5.24.0: flex attention does not broadcast a mask (1, 1, queries, keys) over a batch.

`flex_attention_forward` indexes the mask with the number of the sequence, and raises an IndexError
from the second sequence on. The functions for "eager" and "sdpa" accept the same mask.
"""

from types import SimpleNamespace

import torch
from transformers.integrations.flex_attention import flex_attention_forward

q = k = torch.zeros(2, 1, 1, 1)
v = torch.ones(2, 1, 1, 1)
layer = SimpleNamespace(training=False)
with torch.compiler.set_stance("force_eager"):
    out, _ = flex_attention_forward(layer, q, k, v, torch.zeros(1, 1, 1, 1), scaling=1.0)

print(f"got {out.flatten().tolist()}, want [1.0, 1.0]")
assert out.flatten().tolist() == [1.0, 1.0]
