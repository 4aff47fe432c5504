"""single-head: the published losses to the last digit, and the sum of three input gradients."""

from importlib.util import find_spec

import numpy as np
import pytest

from implementations.systems import single_head
from spec.comparison import equal, same_bits
from spec.layer.notation import Parameters
from tests.implementations.systems import E, N, drawn, posed, tensors

if find_spec("torch"):
    import torch

    from implementations.systems.scaled_dot_product import scaled_dot_product_attention

PUBLISHED = (
    *("-1.3954", "-41.1197", "-156.6300", "-347.9961", "-535.4889"),
    *("-722.7095", "-909.8796", "-1097.0331", "-1284.1794", "-1471.3220"),
)


def test_it_prints_the_published_losses() -> None:
    assert [f"{loss:.4f}" for loss in single_head.trace()] == list(PUBLISHED)


@pytest.mark.torch
def test_input_gradient_is_the_sum_of_three_and_gradients_accumulate() -> None:
    head = single_head.SingleHead(E, np.random.RandomState(2))
    x, dout = drawn((N, E), (N, E))
    read = [t.requires_grad_() for t in tensors(x, head.query, head.key, head.value)]
    q, k, v = (read[0] @ w for w in read[1:])
    out, _ = scaled_dot_product_attention(q, k, v)
    wanted = [g.numpy() for g in torch.autograd.grad(out, read, torch.from_numpy(dout))]

    head.forward(x)
    got = head.backward(dout)
    # A layer of one head, with the identity as its output projection.
    p = Parameters(*(w.T.copy() for w in (head.query, head.key, head.value)), np.eye(E))
    budget = posed(p, 1, *[x[None]] * 3, dout=dout[None], arrays=1).of_gradients
    equal(got, wanted[0], within=2 * budget.inputs["query"][0])
    once = [g.copy() for g in (head.query_gradient, head.key_gradient, head.value_gradient)]
    of_matrices = budget.parameters.W_q, budget.parameters.W_k, budget.parameters.W_v
    for dw, want, within in zip(once, wanted[1:], of_matrices, strict=True):
        equal(dw, want, within=2 * within.T)

    head.backward(dout)
    same_bits(head.key_gradient, 2 * once[1])  # x + x is exact
    head.zero_grad()
    assert not head.key_gradient.any()


def test_backward_before_forward_raises_an_exception() -> None:
    with pytest.raises(RuntimeError, match="no forward pass"):
        single_head.SingleHead(E, np.random.RandomState(0)).backward(np.zeros((N, E)))
