"""flash-attn 2.8.3.post2, Triton backend: `softcap` is taken and dropped.

"softcap: float. Anything > 0 activates softcapping attention", says flash_attn_func, and its README
names no cap among what the backend lacks; interface_fa.fwd does not look at it. Two keys score 8
and 0; capped at 1, the first weighs e^tanh(8) / (e^tanh(8) + 1) = 0.731. Run on a CPU, in Triton's
interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

from math import exp, tanh

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

q = torch.ones(1, 1, 1, 8)
k = torch.stack([torch.ones(8), torch.zeros(8)]).reshape(1, 2, 1, 8)
told = (None, None, 0.0, 1.0, False, -1, -1, 1.0, False)  # the cap is the last but one
got = interface_fa.fwd(q, k, k, *told)[0][0, 0, 0, 0].item()
want = exp(tanh(8)) / (exp(tanh(8)) + 1)
print(f"got {got}\nwant {want}")
assert abs(got - want) < 1e-6
