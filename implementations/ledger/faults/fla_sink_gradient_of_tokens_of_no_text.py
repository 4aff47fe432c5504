"""flash-linear-attention 0.6.0: with cu_seqlens, sink gradients read uninitialised memory.

Rows after the last entry of cu_seqlens stay as torch.empty made them, in the output and in the
log-sum-exp. parallel_attn_bwd sums exp2(sink - lse) delta over all rows, including these. Here they
are NaN, because torch fills empty arrays with NaN if deterministic algorithms are enabled; without
that the gradient is any number. There is one sequence of two tokens, with scores of 4, a sink of 0
and values of 1, and two padding tokens follow it. The script runs on a CPU, in Triton's
interpreter.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"

from math import exp

import torch
from fla.ops.attn.parallel import parallel_attn

torch.use_deterministic_algorithms(True)
x, sink = torch.ones(1, 4, 1, 16), torch.zeros(1, requires_grad=True)
out = parallel_attn(x, x, x, cu_seqlens=torch.tensor([0, 2]), sink_bias=sink)
out[:, :2].sum().backward()
shares = (1 / (1 + exp(4)), 1 / (1 + 2 * exp(4)))  # of the sink, in each row
want = -sum(16 * share * (1 - share) for share in shares)
print(f"got {sink.grad.item()}\nwant {want}")
assert abs(sink.grad.item() - want) < 1e-5
