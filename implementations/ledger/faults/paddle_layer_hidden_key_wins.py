"""paddle 3.3.1: a key that a mask of truth values hides has all the weight, if it scores much.

nn.MultiHeadAttention takes 1e9 from the scores of what is hidden instead of replacing them, so that
a hidden key that scores 1e10 more than the visible one has the weight 1. Expected: the value of the
one visible key, 1.
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
