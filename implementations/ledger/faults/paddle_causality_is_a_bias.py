"""paddle 3.3.1: causality adds -10000 to future keys, which a score can outweigh.

`get_triangle_upper_mask` uses -1e4 for future keys, while Paddle's boolean masks become -inf. Here
the scores of query 0 are 0 and 20000, so that it returns the value of key 1, which lies in the
future. Expected with is_causal: it attends only to key 0, whose value is 0.
"""

import numpy as np
import paddle
from paddle.nn.functional import scaled_dot_product_attention

paddle.set_device("cpu")
q = paddle.to_tensor(np.array([100.0, 0.0], np.float32).reshape(1, 2, 1, 1))
k = paddle.to_tensor(np.array([0.0, 200.0], np.float32).reshape(1, 2, 1, 1))
v = paddle.to_tensor(np.array([0.0, 1.0], np.float32).reshape(1, 2, 1, 1))
got = scaled_dot_product_attention(q, k, v, is_causal=True).numpy().ravel()
print("paddle", paddle.__version__, "got", got, "want", [0.0, 0.5])
assert abs(got[0]) < 1e-6
