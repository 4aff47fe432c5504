"""flash-attn 2.8.3.post2, Triton backend: a softmax_scale of zero or less makes everything NaN.

Where the keys end inside a tile, _attn_fwd_inner puts -inf behind them before it scales
(fwd_prefill.py), and -inf times a scale of zero or less is NaN or +inf. Here one query sees one
key with a value of 1, at a scale of -1: the output has to be 1. With causal=True it is. Run on a
CPU, in Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

x = torch.ones(1, 1, 1, 8)
told = (None, None, 0.0, -1.0, False, -1, -1, 0.0, False)  # softmax_scale is the fourth
got = interface_fa.fwd(x, x, x, *told)[0][0, 0, 0, 0].item()
print(f"got {got}\nwant 1.0")
assert got == 1
