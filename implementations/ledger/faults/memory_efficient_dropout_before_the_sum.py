"""memory-efficient-attention-pytorch 0.1.6: dropout comes before the weights are normalised.

Exponentials are dropped and then divided by the sum of the remaining ones, so that on average
nothing is dropped: if one of two equal keys is dropped, the other one gets the weight 1. Expected:
each of the weights 1/2 is either dropped or doubled (Srivastava et al. 2014), so that their sum is
0, 1 or 2.
"""

import torch
from memory_efficient_attention_pytorch.memory_efficient_attention import memory_efficient_attention

torch.manual_seed(0)
q, k, v = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 2, 1), torch.ones(1, 1, 2, 1)
drawn = [memory_efficient_attention(q, k, v, dropout=0.5, training=True) for _ in range(99)]
got = {round(float(x), 4) for x in drawn}
print("got ", sorted(got))
print("want", [0.0, 1.0, 2.0])
assert got == {0.0, 1.0, 2.0}
