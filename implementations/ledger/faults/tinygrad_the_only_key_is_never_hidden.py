"""tinygrad 0.14.0: with one key, a mask that hides it is ignored, and so is NaN.

An axis of length one is its own maximum, and tinygrad simplifies x - x to 0 even if x is -inf or
NaN: a softmax of one number is 1, whatever the number is. A query whose only key is masked
therefore returns its value, 7 here. With two keys, both masked, it returns NaN.
"""

import numpy as np
import tinygrad
from tinygrad import Tensor


def attend(keys: int) -> float:
    """The output for one query whose keys, all with the value 7, are masked."""
    x = Tensor(np.ones((1, 1, keys, 1), np.float32))
    mask = Tensor(np.zeros((1, keys), bool))
    return Tensor(np.ones((1, 1, 1, 1), np.float32)).scaled_dot_product_attention(
        x, 7 * x, attn_mask=mask
    ).item()  # fmt: skip


one, two = attend(1), attend(2)
nan = Tensor(np.array([np.nan], np.float32)).softmax().item()
version = getattr(tinygrad, "__version__", "0.14.0")
print("tinygrad", version, "one key:", one, "two keys:", two, "softmax of NaN alone:", nan)
assert one != 7
