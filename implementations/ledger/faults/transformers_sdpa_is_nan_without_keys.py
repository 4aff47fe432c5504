"""transformers 5.24.0 on torch 2.13.0: "sdpa" without keys is NaN if the queries' sum overflows.

torch adds zero times the sum of all queries to an output of zeros (pytorch/pytorch#175063), which
is NaN if that sum is infinite. Expected: zeros, as for smaller queries.
"""

from types import SimpleNamespace

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

q, k = torch.full((1, 1, 1, 2), 3e38), torch.zeros(1, 1, 0, 2)
layer = SimpleNamespace(is_causal=False, training=False)
out, _ = sdpa_attention_forward(layer, q, k, k, None, scaling=1.0)

print(f"got {out.flatten().tolist()}, want [0.0, 0.0]")
assert out.flatten().tolist() == [0.0, 0.0]
