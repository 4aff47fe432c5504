"""torch 2.13.0 on a CPU, scaled_dot_product_attention: causal with a scale of zero or less is NaN.

The flash kernel adds -inf to future keys before it multiplies by the scale. Expected: a query with
one visible key returns its value, and with a scale of zero a query returns the mean of its visible
values.
"""

import torch

q, k = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1)
v = torch.tensor([[[[0.0], [1.0]]]])
got = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.0)
want = torch.tensor([[[[0.0], [0.5]]]])
print("got ", got.tolist())
print("want", want.tolist())
assert torch.allclose(got, want)
