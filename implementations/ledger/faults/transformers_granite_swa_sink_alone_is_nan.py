"""transformers 5.24.0: GraniteSWA is NaN if a mask of -inf leaves a query only the attention sink.

The log-sum-exp of a fully masked row is -inf, and its softmax is NaN before it is multiplied by
sigmoid(-inf) = 0. The comment in the code calls this equivalent to "an extra softmax-denominator
logit". With such a logit the sink takes all the weight, and the output is 0, as GPT-OSS returns.
(The masks of `masking_utils` use finfo.min, for which the output is 0; 4D masks from callers may
contain -inf.)
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
