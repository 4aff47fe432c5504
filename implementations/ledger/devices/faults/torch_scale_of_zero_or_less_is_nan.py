"""A scale of zero or less is NaN, in cuDNN's kernel and in flash."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

v = torch.tensor([1.0, 3.0], dtype=torch.bfloat16, device="cuda")[:, None].expand(1, 1, 2, 16)
q = torch.zeros_like(v.contiguous())
for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
    with sdpa_kernel(backend):
        got = scaled_dot_product_attention(q, q, v.contiguous(), scale=0.0)
    print(f"{backend.name} got {got[0, 0, 0, 0].item()}, want the mean, 2.0")
    assert (got == 2).all()
