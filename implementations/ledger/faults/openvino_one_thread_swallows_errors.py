"""openvino 2026.4.1 on a CPU: with one inference thread, a failing computation raises no exception.

Arrays that do not match, such as 4 query heads and 2 key heads, raise an exception at compile time
if their shapes are known then. They also do at run time with INFERENCE_NUM_THREADS = 2 or by
default ("Incompatible MatMul batch dimension"). With INFERENCE_NUM_THREADS = 1 there is no
exception, and the call returns what the previous call left in the output: a wrong number, in a
wrong shape.
"""

import numpy as np
import openvino
from openvino import opset13

arrays = [opset13.parameter(openvino.PartialShape([-1] * 4), dtype=np.float32) for _ in range(3)]
node = opset13.scaled_dot_product_attention(*arrays)
told = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
model = openvino.Core().compile_model(openvino.Model([node], arrays, "attention"), "CPU", told)

one = np.full((1, 1, 1, 1), 7, np.float32)
print("openvino", openvino.__version__, "one number:", model([one, one, one])[0].ravel())
q, k, v = (np.full((1, heads, 3, 1), 5, np.float32) for heads in (4, 2, 2))
try:
    got = model([q, k, v])[0]
except RuntimeError as error:
    print("refused, as wanted:", str(error).splitlines()[0])
    got = None
print("got", None if got is None else (got.shape, got.ravel()), "want an exception")
assert got is None
