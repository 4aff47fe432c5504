"""x-transformers 2.31.10, Attend(causal=True): a fully masked query attends to future keys.

Output rows are set to zero only if the mask alone hides every key. If mask and causality hide them
together, the output is the mean of all values, including future ones. Padding on the left has this
effect. Expected: zeros, as Attend(flash=True, causal=True) returns.
"""

import torch
from x_transformers.attend import Attend

q, k = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[0.0], [1.0]]]])
mask = torch.tensor([[[[False, True]]]])  # the first token is padding
got, _ = Attend(flash=False, causal=True)(q, k, v, mask=mask)
want, _ = Attend(flash=True, causal=True)(q, k, v, mask=mask)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
