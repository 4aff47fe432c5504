"""openvino 2026.4.1, frontend of ONNX: with a past, causality has the wrong alignment.

The standard says "query `i` attends key `j` iff `j <= i + past_sequence_length`" (ONNX, Attention
23 and 24). The frontend implements j <= i + (all keys) - (all queries), which agrees only with as
many new keys as queries. Here there are one past key, one query and two new keys. All scores are
equal, and the values are unit vectors, so that the output equals the weights.
"""

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

names = ["q", "k", "v", "", "past_k", "past_v"]
node = helper.make_node("Attention", names, ["y", "keys", "values"], is_causal=1)
shapes = {"q": 1, "k": 2, "past_k": 1}
given = {name: np.zeros((1, 1, n, 1), np.float32) for name, n in shapes.items()}
given["past_v"], given["v"] = np.split(np.eye(3, dtype=np.float32)[None, None], [1], axis=2)
inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in given.items()]
found = ("y", "keys", "values")
outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, [None] * 4) for x in found]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)

core = openvino.Core()
told = {"INFERENCE_PRECISION_HINT": "f32"}
y = core.compile_model(core.read_model(model.SerializeToString()), "CPU", told)(given)[0]
want = np.array([0.5, 0.5, 0.0])
print("openvino", openvino.__version__, "onnx", onnx.__version__, "got", y.ravel(), "want", want)
assert np.allclose(y.ravel(), want)
