"""onnx 1.23.2, reference evaluator: Attention returns soft-capped products instead of raw ones.

Mode 0 of qk_matmul_output_mode is the "raw QK matmul result", and mode 1 is that "after softcap".
The evaluator overwrites the raw products with the soft-capped ones and returns these in mode 0 too.
The function body of the operator, and onnxruntime, return the raw ones. Expected, for a product of
1 and a soft-cap of 0.5: 1 in mode 0.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

node = helper.make_node(
    "Attention", ["q", "k", "v"], ["y", "", "", "qk"], softcap=0.5, qk_matmul_output_mode=0
)
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in "qkv"]
outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in ("y", "qk")]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])

one = np.ones((1, 1, 1, 1), np.float32)
_, qk = ReferenceEvaluator(model).run(None, {"q": one, "k": one, "v": one})
print("onnx", onnx.__version__, "got", qk.item(), "want", 1.0)
assert qk.item() == 1.0
