"""transformers 5.24.0: eager attention differentiates scores that its mask has absorbed.

`eager_mask` masks by adding torch.finfo(dtype).min. If all keys of a query are masked (padding),
this number absorbs the scores: the weights are uniform, and no key changes the output. autograd
still differentiates the addition, and masked keys receive a gradient: -0.25 and 0.25 here.
Expected: 0, which any difference quotient gives; "sdpa" returns 0. (The loss must depend on padding
queries to show this.)
"""

from types import SimpleNamespace

import torch
from transformers.masking_utils import eager_mask
from transformers.models.llama.modeling_llama import eager_attention_forward

q, v = torch.ones(1, 1, 1, 1), torch.tensor([[[[0.0], [1.0]]]])
mask = eager_mask(1, 1, 2, attention_mask=torch.tensor([[False, False]]))
layer = SimpleNamespace(num_key_value_groups=1, training=False)
for shift in (0.0, 1.0):
    k = torch.tensor([[[[0.0], [shift]]]], requires_grad=True)
    out, _ = eager_attention_forward(layer, q, k, v, mask, scaling=1.0)
    (dk,) = torch.autograd.grad(out, k)
    print(f"output {out.item()} whatever the keys are; dk: got {dk.flatten().tolist()}, want 0")
assert not dk.any()
