"""paddle 3.3.1, nn.MultiHeadAttention: a boolean mask only subtracts 1e9 from masked scores.

The documentation says "When the data type is bool, the unwanted positions have `False` values". If
all positions of a query are unwanted, the query attends in float64 as if there were no mask. In
float32, where 1e9 absorbs the scores, it attends to all keys equally. Neither result excludes the
unwanted positions, and both differ from a mask of -inf, which gives NaN.
"""

import numpy as np
import paddle

paddle.set_device("cpu")


def attend(dtype: str, mask: list[bool] | None) -> float:
    """The last output of a layer without projections, for keys and values 0 and 1."""
    layer = paddle.nn.MultiHeadAttention(1, 1, bias_attr=False).to(dtype=dtype)
    for x in layer.parameters():
        x.set_value(np.ones((1, 1), dtype))
    text = paddle.to_tensor(np.array([[[0.0], [1.0]]], dtype))
    hidden = None if mask is None else paddle.to_tensor(np.array(mask).reshape(1, 1, 1, 2))
    return float(layer(text, text, text, attn_mask=hidden).numpy()[0, 1, 0])


none = attend("float64", None)
double, single = (attend(dtype, [False, False]) for dtype in ("float64", "float32"))
print("paddle", paddle.__version__, "no mask:", none, "hidden:", double, "in float32:", single)
assert abs(double - none) > 1e-3
