"""onnxruntime 1.32.0, com.microsoft MultiHeadAttention on a CPU: the last query is never masked.

With unidirectional = 1 "every token can only attend to previous tokens". If there are more keys
than queries, all queries except the last are masked by j <= i. The last query attends to every key,
which fits neither alignment: neither j <= i nor j <= i + M - N. (The mask is filled in for
`sequence_length - 1` rows, which is enough only for as many keys as queries.) Here all scores are
equal and the values are unit vectors, so that the output equals the weights.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

N, M = 3, 5
node = helper.make_node(
    "MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", num_heads=1,
    unidirectional=1,
)  # fmt: skip
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in "qkv"]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
graph = helper.make_graph([node], "attention", inputs, outputs)
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)

q, k = np.zeros((1, N, 1), np.float32), np.zeros((1, M, 1), np.float32)
(y,) = session.run(None, {"q": q, "k": k, "v": np.eye(M, dtype=np.float32)[None]})
top_left = np.tri(N, M) / np.tri(N, M).sum(axis=1, keepdims=True)
print(
    "onnxruntime", onnxruntime.__version__, "got\n", y[0], "\nwant (first rows are so)\n", top_left
)
assert np.allclose(y[0], top_left)
