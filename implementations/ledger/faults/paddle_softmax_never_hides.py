"""paddle 3.3.1 on a CPU: a key that -inf masks has the weight exp(-64), not zero.

The CPU kernel of softmax clips its exponent at -64 (`ValueClip` in
paddle/phi/kernels/funcs/softmax_impl.h), in float64 as in float32. Masked content, padding or the
future, therefore reaches the output with the weight 1.6e-28. Here the masked value is 1e30 and the
other value is 0. Expected: masked keys have no weight, because exp(-inf) is 0.
"""

import numpy as np
import paddle
from paddle.nn.functional import scaled_dot_product_attention

paddle.set_device("cpu")
q, k = paddle.zeros([1, 1, 1, 1]), paddle.zeros([1, 2, 1, 1])  # (batch, length, heads, width)
v = paddle.to_tensor(np.array([0.0, 1e30], np.float32).reshape(1, 2, 1, 1))
mask = paddle.to_tensor(np.array([True, False]).reshape(1, 1, 1, 2))
got = scaled_dot_product_attention(q, k, v, mask).item()
softmax = paddle.nn.functional.softmax(paddle.to_tensor([0.0, -float("inf")])).numpy()
print("paddle", paddle.__version__, "got", got, "want 0; softmax([0, -inf]) =", softmax)
assert got == 0
