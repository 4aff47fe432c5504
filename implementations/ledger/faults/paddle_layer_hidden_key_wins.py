"""paddle 3.3.1: a key that a boolean mask hides gets all the weight if its score is high enough.

nn.MultiHeadAttention subtracts 1e9 from masked scores instead of replacing them. A masked key whose
score is 1e10 above that of the visible one therefore gets the weight 1. Expected: the value of the
only visible key, 1.
"""

import paddle

layer = paddle.nn.MultiHeadAttention(1, 1)
for name, p in layer.named_parameters():
    p.set_value(paddle.ones_like(p) if "weight" in name else paddle.zeros_like(p))
query = paddle.to_tensor([[[1e5]]])
key, value = paddle.to_tensor([[[0.0], [1e5]]]), paddle.to_tensor([[[1.0], [3.0]]])
mask = paddle.to_tensor([[[[True, False]]]])
got = layer(query, key, value, attn_mask=mask).item()
print(f"got {got}, want 1.0")
assert got == 1.0
