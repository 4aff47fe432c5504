"""x-transformers 2.31.10, RotaryEmbedding(2) divides by zero.

The base is multiplied by `base_rescale_factor ** (dim / (dim - 2))`, even if the factor is 1 and no
rescaling is requested. Expected: one pair of columns, rotated by the position itself.
"""

import torch
from x_transformers.x_transformers import RotaryEmbedding

freqs, _ = RotaryEmbedding(2)(torch.tensor([0.0, 1.0]))
print("got ", freqs.tolist())
print("want", [[[0.0, 0.0], [1.0, 1.0]]])
assert freqs.tolist() == [[[0.0, 0.0], [1.0, 1.0]]]
