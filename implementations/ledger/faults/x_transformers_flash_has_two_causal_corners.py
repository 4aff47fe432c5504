"""x-transformers 2.31.10, Attend(flash=True, causal=True): top-left alignment if N > M.

With more keys than queries, and always without flash, the alignment is bottom-right: the last query
may attend to the last key (`create_causal_mask`). With more queries, flash uses `is_causal` of
torch, whose alignment is top-left. Expected: the result of Attend(causal=True). They differ at the
last query but one, which may attend to one key, and not to both.
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
