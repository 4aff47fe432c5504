"""flash-attn 2.8.3.post2, Triton backend: `softcap` is accepted and ignored.

The documentation of flash_attn_func says "softcap: float. Anything > 0 activates softcapping
attention", and the README does not list the soft-cap among the features that the backend lacks.
interface_fa.fwd does not use it. Two keys have the scores 8 and 0; soft-capped at 1, the weight of
the first is e^tanh(8) / (e^tanh(8) + 1) = 0.731, and the log-sum-exp is log(e^tanh(8) + 1) = 1.313.
The script runs on a CPU, in Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

from math import exp, log, tanh

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

q = torch.ones(1, 1, 1, 8)
k = torch.stack([torch.ones(8), torch.zeros(8)]).reshape(1, 2, 1, 8)
told = (None, None, 0.0, 1.0, False, -1, -1, 1.0, False)  # softcap is the last but one
out, lse, *_ = interface_fa.fwd(q, k, k, *told)
total = exp(tanh(8)) + 1
got, want = [out[0, 0, 0, 0].item(), lse[0, 0, 0].item()], [exp(tanh(8)) / total, log(total)]
print(f"got {got}\nwant {want}")
assert all(abs(x - y) < 1e-5 for x, y in zip(got, want, strict=True))
