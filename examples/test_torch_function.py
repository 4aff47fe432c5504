"""Two ways to check an attention function in your own tests.

    pytest examples/test_torch_function.py

The first turns clauses into tests. The second replaces `allclose`: its bound is derived for these
inputs and this format.
"""

import torch
from torch_function import attend

from attention_spec import assert_attention, parametrize_with_clauses


@parametrize_with_clauses(attend, profile="quick", dtypes=("float32",), clauses=("A", "C"))
def test_clause(run):
    run()


def test_my_shapes():
    q, k, v = torch.randn(3, 2, 4, 16, 8).unbind()
    assert_attention(attend(q, k, v, is_causal=True), q, k, v, is_causal=True)
