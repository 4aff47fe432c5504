"""keras 3.15.1, torch backend: gradients of a fully masked row are M times too large.

keras.ops.dot_product_attention adds -2.4e38 to the scores of masked keys. If all M keys are masked,
the output is the mean of the values, and the gradient of each value is 1 / M. torch's CPU kernel
recomputes the weights from a log-sum-exp in which log(M) is lost next to 2.4e38, and gets 1 for
each weight. Expected: half of the cotangent for each of two keys, or none (a fully masked row
contributes no gradient).
"""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
import torch

query, key = np.zeros((1, 1, 1, 1), np.float32), np.zeros((1, 2, 1, 1), np.float32)
value = torch.zeros(1, 2, 1, 1, requires_grad=True)
out = keras.ops.dot_product_attention(query, key, value, mask=np.zeros((1, 1, 1, 2), bool))
(found,) = torch.autograd.grad(out.sum(), value)
got = found.flatten().tolist()
print(f"got {got}, want [0.5, 0.5] (of a mean of two values) or [0.0, 0.0]")
assert sum(got) <= 1.0
