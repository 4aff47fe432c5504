"""flash-attn 2.8.3.post2, Triton backend: flash_attn_varlen_func returns lse as (tokens, heads).

Its documentation says "softmax_lse: (nheads, total_q_seqlen)". The script runs on a CPU, in
Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

x, starts = torch.ones(3, 2, 8), torch.tensor([0, 3], dtype=torch.int32)
told = (None, starts, starts, None, None, None, None, 3, 3, 0.0, 1.0, False, False)
got = tuple(interface_fa.varlen_fwd(x, x, x, *told, -1, -1, 0.0, False)[1].shape)
print(f"got {got}\nwant {(2, 3)}")
assert got == (2, 3)
