"""transformers 5.24.0: Llama 4's `vision_eager_attention_forward` ignores `scaling`.

It always multiplies by `module.head_dim**-0.5`, while every other function of the attention
interface multiplies by `scaling`. Scores of 0 and 2 at a scale of 2 give the second key the weight
1 / (1 + e^-2) = 0.8808. (The model itself passes None.)
"""

from types import SimpleNamespace

import numpy as np
import torch
from transformers.models.llama4.modeling_llama4 import vision_eager_attention_forward

q = torch.tensor([[[[1.0]]]])
k = v = torch.tensor([[[[0.0], [1.0]]]])
layer = SimpleNamespace(num_key_value_groups=1, head_dim=1, training=False)
out, _ = vision_eager_attention_forward(layer, q, k, v, None, scaling=2.0)

got, want = out.item(), 1 / (1 + np.exp(-2.0))
print(f"got {got:.4f}, want {want:.4f}")
assert abs(got - want) < 1e-5
