"""paddle 3.3.1 on a CPU: softmax of float32 hides NaN where there is a multiple of 8 numbers.

Where a row has NaN in it, or -inf alone (no key is left), its softmax is NaN in float64, and in
float32 for every length but multiples of 8, where the vector instructions clip NaN like a number
and each weight is 1 / length. So attention of a NaN to 7 keys is NaN, and to 8 keys it is the mean
of the values. One of both is wrong, and NaN is what a softmax of NaN is.
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
