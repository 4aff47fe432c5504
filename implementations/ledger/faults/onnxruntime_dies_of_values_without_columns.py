"""onnxruntime 1.32.0, com.microsoft MultiHeadAttention on a CPU: a width of 0 ends the process.

If the head width of the values is zero, the operator divides by it, and the process dies of SIGFPE,
where an exception or an empty array is expected. The same happens if the width of queries and keys
is zero, and in GroupQueryAttention for an empty batch. ai.onnx Attention of the same version says
"V head size must be greater than 0".
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

node = helper.make_node(
    "MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", num_heads=1
)
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in "qkv"]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
graph = helper.make_graph([node], "attention", inputs, outputs)
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)

one, none = np.ones((1, 1, 1), np.float32), np.ones((1, 1, 0), np.float32)
print("onnxruntime", onnxruntime.__version__, "want an error or an array of no numbers", flush=True)
try:
    (y,) = session.run(None, {"q": one, "k": one, "v": none})
    print("got", y.shape)
except Exception as error:  # any exception is correct
    print("refused, as is right:", error)
