"""x-transformers 2.31.10, Attend(flash=True) drops the argument `causal` of its call.

`Attend.forward` accepts `causal` and does not pass it on to `flash_attn`, so that the setting of
the module is used and every query attends to future keys. Expected: the result of Attend() and of
Attend(flash=True, causal=True). `Attention(..., flash=True)(x, causal=True)` has the same fault,
because it calls Attend.
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
