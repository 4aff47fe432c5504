"""torch 2.13.0, nn.TransformerEncoderLayer in evaluation treats an additive mask as a boolean one.

On its fast path (no gradients, batch_first, an even number of heads) every nonzero number of
src_mask masks a key. A mask of small biases therefore masks all keys, and the output is NaN.
Expected: the result of the same layer while gradients are recorded, as "a float mask is added to
the attention weight".
"""

import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(2, 2, 2, dropout=0.0, batch_first=True).eval()
x, bias = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[0.5]])  # with one token, it has no effect
want = layer(x, src_mask=bias)
with torch.no_grad():
    got = layer(x, src_mask=bias)
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
