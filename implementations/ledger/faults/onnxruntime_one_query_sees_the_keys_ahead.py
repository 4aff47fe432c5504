"""onnxruntime 1.32.0, ai.onnx Attention (23, 24) on a CPU: with a past, one query sees all keys.

The standard says "query `i` attends key `j` iff `j <= i + past_sequence_length`". With two queries
this holds. With one query, is_causal is dropped as soon as there are past keys; if there are
several new keys, the query then attends to those that lie ahead of it. The same fault without a
past was fixed for https://github.com/microsoft/onnxruntime/issues/29020. Here there are one past
key, one query and two new keys. All scores are equal, and the values are unit vectors, so that the
output equals the weights.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

names = ["q", "k", "v", "", "past_k", "past_v"]
node = helper.make_node("Attention", names, ["y", "keys", "values"], is_causal=1)
given = {
    name: np.zeros((1, 1, n, 1), np.float32) for name, n in (("q", 1), ("k", 2), ("past_k", 1))
}
given["past_v"], given["v"] = np.split(np.eye(3, dtype=np.float32)[None, None], [1], axis=2)
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in given]
found = ("y", "keys", "values")
outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in found]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)

(y,) = session.run(["y"], given)
want = np.array([0.5, 0.5, 0.0])
print("onnxruntime", onnxruntime.__version__, "got", y.ravel(), "want", want)
assert np.allclose(y.ravel(), want)
