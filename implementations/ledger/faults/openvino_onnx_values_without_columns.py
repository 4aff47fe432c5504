"""openvino 2026.4.1, frontend of ONNX: shared heads with values of width 0 return width 1.

Two query heads share a key head, whose values have no columns: (1, 1, 1, 0). Expected: an output
without columns, (1, 2, 1, 0). It has one column, with whatever was in its memory. (The heads are
repeated by a reshape.)
"""

import numpy as np
import openvino
from onnx import TensorProto, helper

node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
shapes = {"q": (1, 2, 1, 1), "k": (1, 1, 1, 1), "v": (1, 1, 1, 0)}
given = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x) for n, x in shapes.items()]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)

core = openvino.Core()
told = {"INFERENCE_PRECISION_HINT": "f32"}
y = core.compile_model(core.read_model(model.SerializeToString()), "CPU", told)(given)[0]
print("openvino", openvino.__version__, "got", y.shape, y.ravel(), "want", (1, 2, 1, 0))
assert y.shape == (1, 2, 1, 0)
