"""openvino 2026.4.1, frontend of ONNX: Attention treats scale = 0 as no scale.

The documented "Default value is `1/sqrt(head_size)`" is for a missing scale. With a scale of zero
all scores are zero, and the output is the mean of the values, 0.5 here. ONNX's reference evaluator
returns that.
"""

import numpy as np
import openvino
from onnx import TensorProto, helper

node = helper.make_node("Attention", ["q", "k", "v"], ["y"], scale=0.0)
given = {"q": np.ones((1, 1, 1, 1), np.float32)}
given["k"] = given["v"] = np.array([[[[0.0], [1.0]]]], np.float32)
inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in given.items()]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)

core = openvino.Core()
told = {"INFERENCE_PRECISION_HINT": "f32"}
y = core.compile_model(core.read_model(model.SerializeToString()), "CPU", told)(given)[0]
print("openvino", openvino.__version__, "got", y.item(), "want", 0.5)
assert abs(y.item() - 0.5) < 1e-6
