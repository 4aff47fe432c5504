"""x-transformers 2.31.10, Attend(causal=True) in float64 with more queries than keys is NaN.

Hidden scores are filled with the lowest number of float64, and the softmax is that of float32,
where this is -inf. Expected: numbers for the first query, which sees nothing, as in float32.
"""

import torch
from x_transformers.attend import Attend

q, k = torch.zeros(1, 1, 2, 1, dtype=torch.float64), torch.zeros(1, 1, 1, 1, dtype=torch.float64)
got, _ = Attend(causal=True)(q, k, k)
want, _ = Attend(causal=True)(q.float(), k.float(), k.float())
print("got ", got.tolist())
print("want", want.tolist())
assert not got.isnan().any()
