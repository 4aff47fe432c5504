"""torch 2.13.0, nn.MultiheadAttention in evaluation: the output of a fully masked query is NaN.

This happens on the fast path (one sequence as all three inputs, biases, an even number of heads, no
gradients). Expected: the result of the same layer while gradients are recorded, the bias of the
output projection.
"""

import torch

layer = torch.nn.MultiheadAttention(2, 2, batch_first=True).eval()
x, padding = torch.ones(1, 1, 2), torch.tensor([[True]])
want, _ = layer(x, x, x, key_padding_mask=padding, need_weights=False)
with torch.no_grad():
    got, _ = layer(x, x, x, key_padding_mask=padding, need_weights=False)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
