"""openvino 2026.4.1 on a CPU: attention to no key returns what lay in the memory of the output.

With a length of keys of zero nothing is written to the output. A matrix product over an axis of no
elements is zero, and so is the specification's (softmax of an empty row, times no values).
Here a call with values of 7 comes before, whose output has the same size.
"""

import numpy as np
import openvino
from openvino import opset13

arrays = [opset13.parameter(openvino.PartialShape([-1] * 4), dtype=np.float32) for _ in range(3)]
node = opset13.scaled_dot_product_attention(*arrays)
told = {"INFERENCE_PRECISION_HINT": "f32"}
model = openvino.Core().compile_model(openvino.Model([node], arrays, "attention"), "CPU", told)

q = np.ones((1, 1, 2, 3), np.float32)
first = model([q, q, 7 * q])[0].copy()
none = np.ones((1, 1, 0, 3), np.float32)
got = model([q, none, none])[0]
print(
    "openvino", openvino.__version__, "with keys", first.ravel(), "without", got.ravel(), "want 0"
)
assert not got.any()
