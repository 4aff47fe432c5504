"""torch 2.13.0, nn.MultiheadAttention: an idle query is NaN if weights are asked for.

Idle: it may attend to nothing. Without weights the same layer returns the bias of the output
projection for it. Expected: the same.
"""

import torch

layer = torch.nn.MultiheadAttention(1, 1, batch_first=True)
x, mask = torch.ones(1, 1, 1), torch.tensor([[True]])
want, _ = layer(x, x, x, attn_mask=mask, need_weights=False)
got, _ = layer(x, x, x, attn_mask=mask, need_weights=True)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
