"""paddle 3.3.1 on a CPU: a key that -inf hides has the weight exp(-64), not zero.

The CPU kernel of softmax clips what it takes the exponential of at -64 (`ValueClip` in
paddle/phi/kernels/funcs/softmax_impl.h), in float64 as in float32. So what a mask hides,
padding or the future, reaches the output: 1.6e-28 of it, here of a value of 1e30, where the other
value is 0. Everything hidden is to have no weight, as exp(-inf) is 0.
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
