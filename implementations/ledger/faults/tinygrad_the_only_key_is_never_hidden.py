"""tinygrad 0.14.0: where there is one key, a mask that hides it is ignored, and so is NaN.

An axis of one is its own maximum, and x - x is simplified to 0 also where x is -inf or NaN: a
softmax of one number is 1, whatever it is. So a query whose only key is hidden returns its value;
of two keys, both hidden, it returns NaN. Here the value is 7.
"""

import numpy as np
import tinygrad
from tinygrad import Tensor


def attend(keys: int) -> float:
    """The output at one query from which all keys, of value 7, are hidden."""
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
