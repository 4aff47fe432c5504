"""openvino 2026.4.1 on a CPU: without keys, attention returns what was in the output's memory.

If there are no keys, nothing is written to the output. A matrix product over an empty axis is zero,
and so is the operator's specification (softmax of an empty row, times no values). Here the previous
call has values of 7 and an output of the same size.
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
