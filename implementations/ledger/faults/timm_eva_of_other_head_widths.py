"""timm 1.0.31: EvaAttention with `attn_head_dim` fails in its forward pass.

The output of the heads has num_heads * attn_head_dim columns, for which `proj` is built, but it is
reshaped to the width of the input first (`reshape(B, N, C)`). timm.layers.Attention reshapes to its
`attn_dim`. Expected: the shape of the input, (1, 1, 4).
"""

import torch
from timm.models.eva import EvaAttention

layer = EvaAttention(4, num_heads=2, attn_head_dim=3, scale_norm=False)
out = layer(torch.ones(1, 1, 4))
print(f"got {tuple(out.shape)}\nwant {(1, 1, 4)}")
assert out.shape == (1, 1, 4)
