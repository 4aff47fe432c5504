"""torch 2.13.0, nn.MultiheadAttention: a fully masked query is NaN if weights are requested.

Without weights, the same layer returns the bias of the output projection for a query that may
attend to no key. Expected: the same with weights.
"""

import torch

layer = torch.nn.MultiheadAttention(1, 1, batch_first=True)
x, mask = torch.ones(1, 1, 1), torch.tensor([[True]])
want, _ = layer(x, x, x, attn_mask=mask, need_weights=False)
got, _ = layer(x, x, x, attn_mask=mask, need_weights=True)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
