"""onnx 1.23.2, reference evaluator: Attention shows capped products where it is to show raw ones.

qk_matmul_output_mode 0 is the "raw QK matmul result", and 1 is that "after softcap". The evaluator
writes the capped products over the raw ones and returns them in mode 0 too; the function body of
the operator, and onnxruntime, do not. Of a product of 1 and a cap of 0.5, mode 0 is 1.
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
