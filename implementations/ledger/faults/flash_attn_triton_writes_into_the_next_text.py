"""flash-attn 2.8.3.post2, Triton backend: causal, a text without keys writes into the next one.

Where all rows of a block are hidden, attn_fwd stores zeros (fwd_prefill.py, "We still need to write
0s to the result") with a mask of rows alone: a head of 8 columns has a tile of 16, and the last row
spills into the first head of the next text, or behind the array. The log-sum-exp of such a block is
stored below MAX_SEQLENS_Q, not below the length of the text, and goes astray likewise. Here the
first text has 128 queries and no keys, the second one query and one key with a score of 3 and a
value of ones: output and log-sum-exp have to be 1 and 3. Run on a CPU, in Triton's interpreter
(triton 3.4.0), which runs one program after the other; on a GPU it depends on their order.
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
