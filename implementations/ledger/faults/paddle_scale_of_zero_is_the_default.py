"""paddle 3.3.1: scaled_dot_product_attention treats scale=0.0 as no scale.

`_math_attention` has `scale = scale or head_dim**-0.5`, while the documentation says "If None,
scale = 1 / sqrt(head_dim)". With a scale of zero all scores are zero, and the output is the mean of
the values, 0.5 here.
"""

import numpy as np
import paddle
from paddle.nn.functional import scaled_dot_product_attention

paddle.set_device("cpu")
q = paddle.ones([1, 1, 1, 1])  # (batch, length, heads, width)
k = v = paddle.to_tensor(np.array([0.0, 1.0], np.float32).reshape(1, 2, 1, 1))
got = scaled_dot_product_attention(q, k, v, scale=0.0).item()
print("paddle", paddle.__version__, "got", got, "want", 0.5)
assert abs(got - 0.5) < 1e-6
