"""paddle 3.3.1: flash_attention(softmax_scale=...) is ignored if the call takes the math path.

On a CPU, and if `sdp_kernel` selects math or memory-efficient attention, the argument is accepted
and not passed on to `_math_attention`, which has a parameter `scale`. The smallest example has one
query 1, keys 0 and 1, and a scale of 3; the weight of the second key is 1 / (1 + exp(-3)).
"""

import numpy as np
import paddle
from paddle.nn.functional.flash_attention import flash_attention

paddle.set_device("cpu")
q = paddle.ones([1, 1, 1, 1])  # (batch, length, heads, width)
k = v = paddle.to_tensor(np.array([0.0, 1.0], np.float32).reshape(1, 2, 1, 1))
got = flash_attention(q, k, v, softmax_scale=3.0)[0].item()
want = 1 / (1 + np.exp(-3.0))
print("paddle", paddle.__version__, "got", got, "want", want)
assert abs(got - want) < 1e-6
