"""onnxruntime 1.32.0, com.microsoft GroupQueryAttention on a CPU: an empty batch ends the process.

The operator divides by the number of sequences, or by the width of a head, without a check for
zero. The process dies of SIGFPE, where an exception or an empty array is expected. Other operators
accept an empty batch.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

names = ["q", "k", "v", "", "", "last", "total"]
node = helper.make_node(
    "GroupQueryAttention", names, ["y", "keys", "values"], domain="com.microsoft", num_heads=1,
    kv_num_heads=1,
)  # fmt: skip
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in "qkv"]
inputs += [helper.make_tensor_value_info(x, TensorProto.INT32, None) for x in ("last", "total")]
found = ("y", "keys", "values")
outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in found]
graph = helper.make_graph([node], "attention", inputs, outputs)
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)

x = np.ones((0, 1, 8), np.float32)
told = {"last": np.zeros(0, np.int32), "total": np.array(1, np.int32)}
print("onnxruntime", onnxruntime.__version__, "want an error or an array of no numbers", flush=True)
try:
    print("got", session.run(["y"], {"q": x, "k": x, "v": x, **told})[0].shape)
except Exception as error:  # any exception is correct
    print("refused, as is right:", error)
