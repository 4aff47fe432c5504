"""local-attention 1.11.2: with `autopad`, attention that is not causal sees the padding.

Keys and values are filled up with zeros to whole windows, and only a mask of the caller is filled
up with them: without one, queries attend to keys of zeros behind the text. Here a text of one token
with value 1 is filled up to a window of two: the output has to be 1.
"""

import torch
from local_attention import LocalAttention

attend = LocalAttention(2, autopad=True, use_rotary_pos_emb=False)
q, k, v = torch.zeros(1, 1, 1), torch.zeros(1, 1, 1), torch.ones(1, 1, 1)
got, want = attend(q, k, v).item(), 1.0
print(f"got {got}\nwant {want}")
assert got == want
