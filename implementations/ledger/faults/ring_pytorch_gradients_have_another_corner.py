"""ring-attention-pytorch 0.5.20, ring_flash_attn: causal with fewer queries than keys.

The forward pass lets the last query see the last key (`triu(1 + qk_len_diff)`), the backward pass
the first query the first key (`triu(1)`). Expected: gradients of the output that was returned, as
`default_attention` has them; of equal values 1, 2 the second counts for half of the output.
"""

import torch
from ring_attention_pytorch import default_attention, ring_flash_attn

q, k = torch.zeros(1, 1, 1, 1), torch.zeros(1, 2, 1, 1)
v = torch.tensor([[[[1.0]], [[2.0]]]], requires_grad=True)
outs = [f(q, k, v, causal=True) for f in (ring_flash_attn, default_attention)]
got, want = (torch.autograd.grad(out, v)[0] for out in outs)
print("outputs", [float(out.detach()) for out in outs])
print("got ", got.flatten().tolist())
print("want", want.flatten().tolist())
assert torch.allclose(got, want)
