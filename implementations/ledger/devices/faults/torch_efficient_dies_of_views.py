"""torch's memory-efficient kernel does the same at 8 bytes of 16; at 2 bytes it refuses."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

room = torch.randn(3, 2 * 4 * 8 + 4, dtype=torch.bfloat16, device="cuda")
q, k, v = (x[4:].view(1, 2, 4, 8) for x in room)
with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
    print(scaled_dot_product_attention(q, k, v).isfinite().all())  # AcceleratorError
