"""diffusers 0.42.1: the flex backend drops the mask if the call also has `is_causal=True`.

`_native_flex_attention` makes a causal block mask and does not look at `attn_mask` again. Here the
mask hides the first key from the second query, so that the second query must return the second
value, 3.
"""

import torch
from diffusers.models.attention_dispatch import dispatch_attention_fn

q, k = torch.zeros(1, 2, 1, 1), torch.zeros(1, 2, 1, 1)
v = torch.tensor([1.0, 3.0]).reshape(1, 2, 1, 1)
mask = torch.tensor([[True, True], [False, True]]).reshape(1, 1, 2, 2)
out = dispatch_attention_fn(q, k, v, attn_mask=mask, is_causal=True, backend="flex")
got, want = out.flatten().tolist(), [1.0, 3.0]
print(f"got {got}\nwant {want}")
assert got == want
