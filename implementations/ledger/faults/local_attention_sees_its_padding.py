"""local-attention 1.11.2: with `autopad`, attention that is not causal attends to the padding.

Keys and values are padded with zeros to whole windows, but only a mask that the caller passes is
padded too. Without one, queries attend to keys of zeros after the sequence. Here a sequence of one
token with value 1 is padded to a window of two: the output must be 1.
"""

import torch
from local_attention import LocalAttention

attend = LocalAttention(2, autopad=True, use_rotary_pos_emb=False)
q, k, v = torch.zeros(1, 1, 1), torch.zeros(1, 1, 1), torch.ones(1, 1, 1)
got, want = attend(q, k, v).item(), 1.0
print(f"got {got}\nwant {want}")
assert got == want
