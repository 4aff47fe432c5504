"""flash ends the device, by "misaligned address", where a view begins at odd bytes."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

room = torch.randn(3, 2 * 4 * 8 + 1, dtype=torch.bfloat16, device="cuda")
q, k, v = (x[1:].view(1, 2, 4, 8) for x in room)
with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    print(scaled_dot_product_attention(q, k, v).isfinite().all())  # AcceleratorError
