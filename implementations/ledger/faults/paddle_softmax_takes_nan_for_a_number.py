"""paddle 3.3.1 on a CPU: softmax in float32 loses NaN if the row length is a multiple of 8.

If a row contains NaN, or only -inf (no visible key), its softmax is NaN in float64, and in float32
for lengths that are not multiples of 8. For multiples of 8 the vector instructions clip NaN like a
number, and every weight is 1 / length. Attention from a NaN query to 7 keys is NaN, and to 8 keys
it is the mean of the values. Expected: NaN, which is the softmax of NaN.
"""

import numpy as np
import paddle

paddle.set_device("cpu")
row = np.zeros(8, np.float32)
row[0] = np.nan
seven = paddle.nn.functional.softmax(paddle.to_tensor(row[:7])).numpy()
eight = paddle.nn.functional.softmax(paddle.to_tensor(row)).numpy()
print("paddle", paddle.__version__, "of 7:", seven, "\ngot of 8:", eight, "want NaN everywhere")
assert np.isnan(eight).all()
