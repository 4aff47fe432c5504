"""Two ways to check an attention function in your own tests.

    pytest examples/test_torch_function.py

Expect about twenty tests that pass. `parametrize_with_clauses` makes a test of each clause, here of
sections A (agreement with the definition) and C (causality). `assert_attention` replaces
`allclose` in tests of your own shapes: it derives its bound from the inputs and their format.
"""

import pytest
import torch
from torch_function import attend

from attention_spec import assert_attention, parametrize_with_clauses


@parametrize_with_clauses(attend, profile="quick", dtypes=("float32",), clauses=("A", "C"))
def test_clause(run):
    run()


@pytest.mark.parametrize("is_causal", [False, True])
def test_my_shapes(is_causal):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 16, 8).unbind()
    out = attend(q, k, v, is_causal=is_causal)
    assert_attention(out, q, k, v, is_causal=is_causal)


def test_my_scale():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 16, 8).unbind()
    assert_attention(attend(q, k, v, scale=0.5), q, k, v, scale=0.5)
