"""openvino 2026.4.1, frontend of ONNX: causal Attention without keys or queries ends the process.

With `is_causal` and a length of zero, of the keys or of the queries, memory outside an array is
written while the model is compiled: the process dies of SIGSEGV or SIGABRT ("free(): invalid
pointer"). With 31 tokens on the other side this happened in each run; with one token it did not.
Expected: zeros, as without `is_causal`. (The call has a mask, because without one it raises an
exception.)
"""

import numpy as np
import openvino
from onnx import TensorProto, helper

node = helper.make_node("Attention", ["q", "k", "v", "mask"], ["y"], is_causal=1)
shapes = {"q": (1, 2, 31, 1), "k": (1, 2, 0, 1), "v": (1, 2, 0, 1), "mask": (1, 2, 31, 0)}
given = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x) for n, x in shapes.items()]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)

print("openvino", openvino.__version__, "want", (1, 2, 31, 1), "and zeros", flush=True)
core = openvino.Core()
told = {"INFERENCE_PRECISION_HINT": "f32"}
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", told)
y = compiled(given)[0]
print("got", y.shape, y.ravel())
assert y.shape == (1, 2, 31, 1)
assert not y.any()
