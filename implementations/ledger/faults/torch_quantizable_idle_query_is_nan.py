"""torch 2.13.0, torch.ao.nn.quantizable.MultiheadAttention: a fully masked query is NaN.

For a query that may attend to no key, the layer computes the softmax of a row of -inf. Expected:
the result of nn.MultiheadAttention without requested weights, the bias of the output projection.
"""

import torch
from torch.ao.nn.quantizable import MultiheadAttention

layer = MultiheadAttention(1, 1)
x, padding = torch.ones(1, 1, 1), torch.tensor([[True]])
got, _ = layer(x, x, x, key_padding_mask=padding, need_weights=False)
want, _ = torch.nn.MultiheadAttention(1, 1)(x, x, x, key_padding_mask=padding, need_weights=False)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
