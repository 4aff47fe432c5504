"""timm 1.0.31: EvaAttention with `attn_head_dim` fails in its forward pass.

Its output has num_heads * attn_head_dim columns, and is reshaped to as many as the input has
(`reshape(B, N, C)`), before `proj`, which is made for the former. timm.layers.Attention reshapes to
its `attn_dim`. The output has to have the shape of the input, (1, 1, 4).
"""

import torch
from timm.models.eva import EvaAttention

layer = EvaAttention(4, num_heads=2, attn_head_dim=3, scale_norm=False)
out = layer(torch.ones(1, 1, 4))
print(f"got {tuple(out.shape)}\nwant {(1, 1, 4)}")
assert out.shape == (1, 1, 4)
