"""torch 2.13.0, torch.ao.nn.quantizable.MultiheadAttention with batch_first=True mixes the heads.

The outputs of the heads are an array (batch heads, length, width). It is viewed as (batch, length,
embed) without the transposition that the other layout has. Expected: the same numbers in both
layouts.
"""

import torch
from torch.ao.nn.quantizable import MultiheadAttention

one, other = MultiheadAttention(2, 2, batch_first=True), MultiheadAttention(2, 2)
for layer in (one, other):  # every projection is the identity
    for part in (layer.linear_Q, layer.linear_K, layer.linear_V, layer.out_proj):
        part.weight.data, part.bias.data = torch.eye(2), torch.zeros(2)
x = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])  # two tokens: head 0 has 0, head 1 has 1
got, want = one(x, x, x)[0], other(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
