"""torch 2.13.0, scaled_dot_product_attention without keys multiplies the queries' sum by zero.

Without keys the output should be zeros, and it is, unless that sum overflows: then it is NaN.
"""

import torch

large = torch.finfo(torch.float32).max
q, empty = torch.full((1, 1, 1, 2), large), torch.zeros(1, 1, 0, 2)
got = torch.nn.functional.scaled_dot_product_attention(q, empty, empty)
print("got ", got.tolist())
print("want", [[[[0.0, 0.0]]]])
assert not got.any()
