"""diffusers 0.42.1: the flex backend applies a mask (batch, keys) to the queries.

`_native_flex_attention` views the mask as (batch, 1, keys, 1). A masked key j therefore hides all
keys from query j, and stays visible itself. The native backend views the same mask as (batch, 1, 1,
keys). Here the second key is padding: every query must return the first value, 1.
"""

import torch
from diffusers.models.attention_dispatch import dispatch_attention_fn

q, k = torch.zeros(1, 2, 1, 1), torch.zeros(1, 2, 1, 1)
v = torch.tensor([1.0, 3.0]).reshape(1, 2, 1, 1)
mask = torch.tensor([[True, False]])
got = dispatch_attention_fn(q, k, v, attn_mask=mask, backend="flex").flatten().tolist()
want = dispatch_attention_fn(q, k, v, attn_mask=mask, backend="native").flatten().tolist()
print(f"got {got}\nwant {want}")
assert got == want == [1.0, 1.0]
