"""flash-attn 2.8.3.post2, Triton backend: gradients are NaN if scores are below -88.

If the call is not causal, the backward pass (_bwd_dq_inner, bwd_prefill_split.py) does not mask the
positions of a tile after the last key. Such a position has the score 0. Its weight exp(0 - lse) is
infinite if the log-sum-exp is below -88, and infinity times its key of zeros is NaN. Here one key
has the score -100 and the weight 1, whatever the query is, so that the gradient of the query must
be 0. With causal=True it is 0. The script runs on a CPU, in Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

q, k = torch.ones(1, 1, 1, 16), torch.full((1, 1, 1, 16), -6.25)
told = (None, 0.0, 1.0, False, -1, -1, 0.0, False)
out, lse, *_ = interface_fa.fwd(q, k, k, None, *told)
dq, *_ = interface_fa.bwd(q, q, k, k, out, lse, None, None, None, *told)
print(f"got {dq[0, 0, 0, 0].item()}\nwant 0.0")
assert dq[0, 0, 0, 0] == 0
