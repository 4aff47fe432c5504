"""openvino 2026.4.1 on a CPU: with one inference thread, what cannot be computed is not an error.

Arrays that do not fit each other, 4 heads of queries and 2 of keys, are refused where they are
known when the model is compiled, and at run time with INFERENCE_NUM_THREADS = 2 or by default
("Incompatible MatMul batch dimension"). With INFERENCE_NUM_THREADS = 1 no exception is raised, and
what comes back is what was left in the output of the call before: a wrong number, in a wrong shape.
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
