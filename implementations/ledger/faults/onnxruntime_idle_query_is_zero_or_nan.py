"""onnxruntime 1.32.0, com.microsoft GroupQueryAttention on a CPU: zero or NaN if fully masked.

A query whose attention_bias is -inf everywhere returns zeros in float32 with causal = 1 and two or
more queries. It returns NaN with one query, with causal = 0, or in float16. Expected: the same
result in all cases. ai.onnx Attention documents zero.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def attend(causal: int) -> np.ndarray:
    """The output for two queries and two keys, all masked by a bias of -inf."""
    names = ["q", "k", "v", "", "", "last", "total", "", "", "", "bias"]
    found = ("y", "keys", "values")
    node = helper.make_node(
        "GroupQueryAttention", names, found, domain="com.microsoft", num_heads=1, kv_num_heads=1,
        causal=causal,
    )  # fmt: skip
    x = np.ones((1, 2, 8), np.float32)
    given = {"q": x, "k": x, "v": x, "bias": np.full((1, 1, 2, 2), -np.inf, np.float32)}
    given |= {"last": np.ones(1, np.int32), "total": np.array(2, np.int32)}
    to = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32}
    inputs = [helper.make_tensor_value_info(n, to[a.dtype], None) for n, a in given.items()]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in found]
    graph = helper.make_graph([node], "attention", inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(["y"], given)[0].ravel()


got = [attend(causal) for causal in (1, 0)]
print("onnxruntime", onnxruntime.__version__, "causal:", got[0], "not causal:", got[1])
assert np.array_equal(got[0], got[1], equal_nan=True)
