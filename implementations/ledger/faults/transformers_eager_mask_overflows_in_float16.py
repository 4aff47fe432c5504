"""transformers 5.24.0: eager attention in float16 is NaN for a padding query with low scores.

`eager_mask` uses torch.finfo(dtype).min, and the scores are added to it in float16: -65504 - 20 is
out of range and becomes -inf. If all keys of a query are masked (as for the first tokens of a
sequence that is padded on the left), and all its scores are below -16, its weights are NaN. The
finite minimum should give uniform weights; with "sdpa" the output is 0.
"""

from types import SimpleNamespace

import torch
from transformers.masking_utils import eager_mask
from transformers.models.llama.modeling_llama import eager_attention_forward

q, k = torch.full((1, 1, 1, 1), -20.0).half(), torch.ones(1, 1, 2, 1).half()
v = torch.tensor([[[[0.0], [1.0]]]]).half()
padded = torch.tensor([[False, False]])
mask = eager_mask(1, 1, 2, attention_mask=padded, dtype=torch.float16)
layer = SimpleNamespace(num_key_value_groups=1, training=False)
out, _ = eager_attention_forward(layer, q, k, v, mask, scaling=1.0)

print(f"got {out.item()}, want 0.5")
assert out.isfinite().all()
