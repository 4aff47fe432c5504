"""x-transformers 2.31.10, Attend(flash=True) drops the argument `causal` of its call.

`Attend.forward` takes `causal` and does not pass it on to `flash_attn`, so that the module's own
setting holds. Expected: what Attend() and Attend(flash=True, causal=True) return; instead every
query sees the future. `Attention(..., flash=True)(x, causal=True)` has it from there.
"""

import torch
from x_transformers.attend import Attend

q, k = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[0.0], [1.0]]]])
got, _ = Attend(flash=True)(q, k, v, causal=True)
want, _ = Attend(flash=False)(q, k, v, causal=True)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
