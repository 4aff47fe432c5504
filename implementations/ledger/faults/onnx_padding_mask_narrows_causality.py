"""onnx 1.23.2, reference evaluator: with is_causal, a mask of one row hides the past as well.

The causal mask is built in the shape of attn_mask, not in (q_sequence_length, kv_sequence_length):
`base = attn_mask.copy()`, then `_apply_causal(base, offset)` uses `base.shape[-2:]`. The operator
allows a padding mask (..., 1, M) ("broadcastable to (batch_size, q_num_heads, q_sequence_length,
total_sequence_length)"). With such a mask, every query gets the causal row of query 0. Here nothing
is padded and all scores are equal, so that query 1 must return the mean of both values, 0.5.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

node = helper.make_node("Attention", ["q", "k", "v", "mask"], ["y"], is_causal=1)
inputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in "qkv"]
inputs.append(helper.make_tensor_value_info("mask", TensorProto.BOOL, None))
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
graph = helper.make_graph([node], "attention", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])

q = k = np.zeros((1, 1, 2, 1), np.float32)
v = np.array([[[[0.0], [1.0]]]], np.float32)
given = {"q": q, "k": k, "v": v, "mask": np.array([[True, True]])}
(y,) = ReferenceEvaluator(model).run(None, given)
want = np.array([0.0, 0.5])
print("onnx", onnx.__version__, "got", y.ravel(), "want", want)
assert np.allclose(y.ravel(), want)
