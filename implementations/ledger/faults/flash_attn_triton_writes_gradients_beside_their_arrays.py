"""flash-attn 2.8.3.post2, Triton backend: dk and dv are stored by the strides of the keys.

_bwd_kernel_dkdv_noncausal and _bwd_kernel_dkdv_causal (bwd_prefill_split.py) step from head to head
of dk and dv by stride_kh, the stride of the keys. If the keys are half of the columns of a wider
array, their heads are 32 numbers apart. The heads of their gradients are 16 apart, as
torch.empty_like makes them. The gradients of the second head are then stored after the end of the
array, which may crash the process. Here the arrays have room after their end. One query of each
head attends to one key, whose value gets all of the gradient, 1. The script runs on a CPU, in
Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

q, k = torch.ones(1, 1, 2, 16), torch.ones(1, 1, 2, 32)[..., :16]
told = (None, 0.0, 1.0, False, -1, -1, 0.0, False)
out, lse, *_ = interface_fa.fwd(q, k, k, None, *told)
room, more = torch.zeros(2, 1, 1, 4, 16)  # dv and dk are the first two heads
arrays = (torch.zeros_like(q), more[:, :, :2], room[:, :, :2])
interface_fa.bwd(q, q, k, k, out, lse, *arrays, *told)
got, want = room[0, 0, :, 0].tolist(), [1.0, 1.0, 0.0, 0.0]
print(f"got {got}\nwant {want}")
assert got == want
