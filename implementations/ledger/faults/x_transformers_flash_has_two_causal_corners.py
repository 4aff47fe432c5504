"""x-transformers 2.31.10, Attend(flash=True, causal=True) with more queries than keys.

With more keys than queries, and without flash always, the last query sees the last key
(`create_causal_mask`); with more queries `is_causal` of torch is used, whose first query sees the
first key. Expected: what Attend(causal=True) returns for the last query but one, which sees one key
of two less.
"""

import torch
from x_transformers.attend import Attend

q, k = torch.zeros(1, 1, 3, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[0.0], [1.0]]]])
got, _ = Attend(flash=True, causal=True)(q, k, v)
want, _ = Attend(flash=False, causal=True)(q, k, v)
print("got ", got[0, 0, 1:].tolist())
print("want", want[0, 0, 1:].tolist())
assert torch.allclose(got[0, 0, 1:], want[0, 0, 1:])
