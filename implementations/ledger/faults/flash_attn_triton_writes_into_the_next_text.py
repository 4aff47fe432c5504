"""flash-attn 2.8.3.post2, Triton backend: causal, a sequence without keys writes into the next one.

If all rows of a block are fully masked, attn_fwd stores zeros (fwd_prefill.py, "We still need to
write 0s to the result") with a mask for rows only. A head of 8 columns has a tile of 16, so that
the last row spills into the first head of the next sequence, or past the end of the array. The
log-sum-exp of such a block is stored up to MAX_SEQLENS_Q, not up to the length of the sequence, and
spills in the same way. Here the first sequence has 128 queries and no keys. The second one has one
query and one key with a score of 3 and a value of ones: output and log-sum-exp must be 1 and 3. The
script runs on a CPU, in Triton's interpreter (triton 3.4.0), which runs one program after the
other; on a GPU the result depends on their order.
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

starts_q, starts_k = (torch.tensor(x, dtype=torch.int32) for x in ((0, 128, 129), (0, 0, 1)))
q, k = torch.ones(129, 1, 8), torch.ones(1, 1, 8)
told = (None, starts_q, starts_k, None, None, None, None, 128, 1, 0.0, 3 / 8, False, True)
out, lse, *_ = interface_fa.varlen_fwd(q, k, k, *told, -1, -1, 0.0, False)
got, want = (out[128, 0, 0].item(), round(lse[128].item(), 6)), (1.0, 3.0)
print(f"got {got}\nwant {want}")
assert got == want
