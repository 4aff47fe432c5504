"""transformers 5.24.0: the attention weights that GraniteSWA returns are not those it used.

The comment in the code says that the sink is "equivalent to an extra softmax-denominator logit",
but it is applied to the output only. The weights that `output_attentions=True` returns sum to 1.
GPT-OSS, whose layers have the same sinks, returns weights that sum to less. Here one key has the
score 0 and the sink is 0: the output is half of the value, and the weight should be 1/2. The same
happens in granitemoe_swa.
"""

from types import SimpleNamespace

import torch
from transformers.models.granite_swa.modeling_granite_swa import eager_attention_forward

q = k = torch.tensor([[[[0.0]]]])
v = torch.tensor([[[[1.0]]]])
layer = SimpleNamespace(num_key_value_groups=1, training=False, sinks=torch.tensor([0.0]))
out, weights = eager_attention_forward(layer, q, k, v, None, scaling=1.0)

print(f"output {out.item()}; weights: got {weights.item()}, want 0.5")
assert torch.equal(weights @ v, out.transpose(1, 2))
