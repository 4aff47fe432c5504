"""diffusers 0.42.1: the flex backend drops `is_causal=True` if there is no mask.

`_native_flex_attention` checks `attn_mask is None` before `is_causal` and uses the missing mask as
its block mask, so that every query attends to every key. With two keys that have equal scores, the
first query must return the first value, 1, and not the mean of both, 2. The native backend is
correct.
"""

import torch
from diffusers.models.attention_dispatch import dispatch_attention_fn

q, k = torch.zeros(1, 2, 1, 1), torch.zeros(1, 2, 1, 1)
v = torch.tensor([1.0, 3.0]).reshape(1, 2, 1, 1)
got = dispatch_attention_fn(q, k, v, is_causal=True, backend="flex").flatten().tolist()
want = dispatch_attention_fn(q, k, v, is_causal=True, backend="native").flatten().tolist()
print(f"got {got}\nwant {want}")
assert got == want == [1.0, 2.0]
