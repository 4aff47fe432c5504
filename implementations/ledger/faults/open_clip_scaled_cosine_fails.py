"""open_clip 3.3.0: Attention with `scaled_cosine=True` fails in its forward pass.

The heads are a separate axis now, (batch, heads, length, width), but this path still calls
torch.bmm, which accepts three axes. Expected: the shape of the input, (1, 2, 4).
"""

import torch
from open_clip.transformer import Attention

out = Attention(4, num_heads=2, scaled_cosine=True)(torch.ones(1, 2, 4))
print(f"got {tuple(out.shape)}\nwant {(1, 2, 4)}")
assert out.shape == (1, 2, 4)
