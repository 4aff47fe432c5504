"""ring-attention-pytorch 0.5.20, ring_flash_attn: causal gradients do not match the output (N < M).

The alignment of the forward pass is bottom-right (`triu(1 + qk_len_diff)`): the last query may
attend to the last key. The alignment of the backward pass is top-left (`triu(1)`): the first query
may attend to the first key only. Expected: gradients of the output that was returned, as
`default_attention` has them. Here the keys are equal and the values are 1 and 2, so that the second
value contributes half of its size to the output.
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
