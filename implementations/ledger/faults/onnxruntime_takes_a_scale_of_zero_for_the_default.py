"""onnxruntime 1.32.0, com.microsoft MultiHeadAttention, GroupQueryAttention: scale = 0 is ignored.

The documentation says "Custom scale will be used if specified. Default value is 1/sqrt(head_size)",
but a scale of zero is treated as no scale. It raises no exception either (ai.onnx Attention of the
same version raises one). With a scale of zero all scores are zero, and the output is the mean of
the values, 0.5 here.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

node = helper.make_node(
    "MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", num_heads=1, scale=0.0
)
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in "qkv"]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
graph = helper.make_graph([node], "attention", inputs, outputs)
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)

q, k = np.ones((1, 1, 1), np.float32), np.array([[[0.0], [1.0]]], np.float32)
(y,) = session.run(None, {"q": q, "k": k, "v": k})
print("onnxruntime", onnxruntime.__version__, "got", y.item(), "want", 0.5)
assert abs(y.item() - 0.5) < 1e-6
