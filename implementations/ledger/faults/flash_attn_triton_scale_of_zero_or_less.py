"""flash-attn 2.8.3.post2, Triton backend: a softmax_scale of zero or less makes the output NaN.

If the keys end inside a tile, _attn_fwd_inner (fwd_prefill.py) sets scores after the last key to
-inf before it multiplies by the scale. -inf times zero is NaN, and -inf times a negative scale is
+inf. Here one query attends to one key with the value 1, at a scale of -1: the output must be 1.
With causal=True it is 1. The script runs on a CPU, in Triton's interpreter (triton 3.4.0).
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
