"""flash-attn 2.8.3.post2, Triton backend: dout is read by the strides of the output.

_bwd_preprocess (bwd_prefill_split.py) sums dout times out for each row. It reads both arrays by the
strides of out, which are those of the queries. If the memory layout of the queries is (batch,
heads, length, width), and that of dout is (batch, length, heads, width), rows get the sums of other
rows. Here the queries are zero, one key and its value are zeros, the other key and its value are
ones, and the gradients of the output are ones times 1 to 4. The gradients of the queries must be
four times these numbers. The script runs on a CPU, in Triton's interpreter (triton 3.4.0).
"""

import os

os.environ |= {"TRITON_INTERPRET": "1", "FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}

import torch
from flash_attn.flash_attn_triton_amd import interface_fa

q, dout = torch.zeros(1, 2, 2, 16).transpose(1, 2), torch.ones(1, 2, 2, 16)
k = torch.stack([torch.zeros(2, 16), torch.ones(2, 16)]).unsqueeze(0)
dout *= torch.tensor([[1, 2], [3, 4]]).reshape(1, 2, 2, 1)
told = (None, 0.0, 1.0, False, -1, -1, 0.0, False)
out, lse, *_ = interface_fa.fwd(q, k, k, None, *told)
dq, *_ = interface_fa.bwd(dout, q, k, k, out, lse, None, None, None, *told)
got, want = dq[0, :, :, 0].tolist(), [[4.0, 8.0], [12.0, 16.0]]
print(f"got {got}\nwant {want}")
assert got == want
