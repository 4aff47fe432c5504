"""x-transformers 2.31.10, Attend(causal=True) in float64 with more queries than keys is NaN.

Masked scores are set to the lowest number of float64, which becomes -inf in the float32 softmax.
Expected: finite numbers for the first query, which is fully masked, as in float32.
"""

import torch
from x_transformers.attend import Attend

q, k = torch.zeros(1, 1, 2, 1, dtype=torch.float64), torch.zeros(1, 1, 1, 1, dtype=torch.float64)
got, _ = Attend(causal=True)(q, k, k)
want, _ = Attend(causal=True)(q.float(), k.float(), k.float())
print("got ", got.tolist())
print("want", want.tolist())
assert not got.isnan().any()
