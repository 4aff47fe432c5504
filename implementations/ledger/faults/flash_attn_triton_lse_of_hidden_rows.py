"""flash-attn 2.8.3.post2, Triton backend: the lse of a row that sees no key is 0.

The sum of no exponentials is 0, and its logarithm -inf; flash-attn's CUDA backend returns +inf, as
the comment in attn_fwd has it too ("inf written to LSE"), and stores 0, which is the log-sum-exp
of a key that scores 0: who merges parts by it gives such a row a weight. Here the first of two
causal queries sees no key. Run on a CPU, in Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

q, k = torch.ones(1, 2, 1, 8), torch.ones(1, 1, 1, 8)
told = (None, None, 0.0, 1.0, True, -1, -1, 0.0, False)
got = interface_fa.fwd(q, k, k, *told)[1][0, 0, 0].item()
print(f"got {got}\nwant inf or -inf")
assert abs(got) == float("inf")
