"""transformers 5.24.0: GraniteSWA returns NaN where a mask of -inf leaves a query the sink alone.

A row whose keys are all hidden has log-sum-exp -inf, and the softmax of it is NaN before it is
multiplied by sigmoid(-inf) = 0. As "an extra softmax-denominator logit", which the comment calls
it equivalent to, the sink takes all the weight, and the output is 0, as GPT-OSS returns. (The masks
of `masking_utils` hide by finfo.min, for which the output is 0; 4D masks of callers may have -inf.)
"""

from types import SimpleNamespace

import torch
from transformers.models.granite_swa.modeling_granite_swa import eager_attention_forward

q = k = v = torch.tensor([[[[1.0]]]])
layer = SimpleNamespace(num_key_value_groups=1, training=False, sinks=torch.tensor([0.0]))
hidden = torch.tensor([[[[-torch.inf]]]])
out, _ = eager_attention_forward(layer, q, k, v, hidden, scaling=1.0)

print(f"got {out.item()}, want 0.0")
assert out.item() == 0.0
