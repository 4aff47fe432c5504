"""flash-attn 2.8.3.post2, Triton backend: the lse of a fully masked row is 0.

An empty sum of exponentials is 0, and its logarithm is -inf. flash-attn's CUDA backend returns
+inf, and the comment in attn_fwd says the same ("inf written to LSE"). The kernel, however, stores
0, which is the log-sum-exp of one key with the score 0. Code that merges partial results by their
log-sum-exp therefore gives such a row a weight. Here the first of two causal queries is fully
masked. The script runs on a CPU, in Triton's interpreter (triton 3.4.0).
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
