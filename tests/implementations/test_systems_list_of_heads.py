"""list-of-heads: hand-written gradients and training step equal torch; published ones do not."""

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from implementations.systems import list_of_heads, published_faults
from implementations.systems.list_of_heads import Weights
from implementations.systems.torch_names import ListOfHeadsLayer
from spec.attention.rounding.sums import growth
from spec.comparison import Violation, equal
from spec.formats import FORMATS
from spec.layer.notation import Parameters
from spec.layer.rounding import Budgets
from spec.layer.state import parameters_of
from spec.notation import Array
from tests.implementations.systems import B, D, E, H, M, N, compared, drawn, posed, tensors

if find_spec("torch"):
    import torch


def system(L: int | None = None) -> tuple[Weights, list[Array]]:
    """Weights; query, key, value, cotangent. L tokens, or N queries and M keys."""
    w = list_of_heads.drawn(E, H, np.random.default_rng(1))
    if L is None:
        return w, drawn((B, N, E), (B, M, E), (B, M, E), (B, N, E))
    x, dout = drawn((B, L, E), (B, L, E))
    return w, [x, x, x, dout]


def joined(w: Weights) -> Parameters:
    """The lists concatenated, with every matrix transposed for multiplication from the left."""
    W_q, W_k, W_v = (np.hstack(x).T.copy() for x in w[:3])
    return Parameters(W_q, W_k, W_v, w.output.T.copy())


def budget_of(w: Weights, inputs: list[Array]) -> Budgets:
    *three, dout = inputs
    return posed(joined(w), H, *three, dout=dout)


def torch_of(w: Weights) -> Any:
    """The layer of torch with the same matrices."""
    p = joined(w)
    layer = torch.nn.MultiheadAttention(E, H, bias=False, batch_first=True).double()
    whole, out = tensors(np.concatenate([p.W_q, p.W_k, p.W_v]), p.W_o.copy())
    layer.load_state_dict({"in_proj_weight": whole, "out_proj.weight": out})
    return layer


def state(layer: Any, grad: bool = False) -> Parameters:
    named = layer.named_parameters()
    return parameters_of({n: (x.grad if grad else x.detach()).numpy() for n, x in named})


@pytest.mark.torch
@pytest.mark.parametrize("L", [None, 1, N])
def test_gradients_and_training_step_equal_those_of_torch(L: int | None) -> None:
    (w, inputs), rate = system(L), 0.125
    layer, (*arrays, dout) = torch_of(w), tensors(*inputs)
    layer(*arrays)[0].backward(dout)
    budget = budget_of(w, inputs).of_gradients.parameters.mapped(lambda x: 2 * x)
    got = list_of_heads.backward(w, *inputs)
    compared(joined(got), state(layer, grad=True), budget)

    torch.optim.SGD(layer.parameters(), lr=rate).step()
    u = FORMATS["float64"].u  # W - rate dW: a product and a difference, in two implementations
    after = state(layer).named()
    room = {n: rate * x + 4 * u * np.abs(after[n]) for n, x in budget.named().items()}
    compared(joined(list_of_heads.step(w, got, rate)), Parameters(**after), Parameters(**room))


@pytest.mark.torch
def test_loss_and_its_gradients_equal_those_of_torch() -> None:
    w, (q, k, v, target) = system()
    layer = torch_of(w)
    out = layer(*tensors(q, k, v))[0]
    loss = (0.5 * (out - torch.from_numpy(target)) ** 2).sum(dim=(1, 2)).mean()
    loss.backward()
    budget = posed(joined(w), H, q, k, v).of_output
    error = np.abs(out.detach().numpy() - target)
    equal(list_of_heads.forward(w, q, k, v)[0], out.detach().numpy(), within=2 * budget)
    u, n = FORMATS["float64"].u, error.size + 4  # a difference, a square, a half, a mean
    within = (error * 2 * budget).sum() + growth(n, u) * n * u * (error**2).sum()
    equal(np.array(list_of_heads.loss(w, q, k, v, target)), loss.item(), within=2 * within / B)

    # The errors of the two outputs differ by up to 2 B_y. This changes the gradients, too.
    room = budget_of(w, [q, k, v, error / B]).of_gradients.parameters.mapped(lambda x: 2 * x)
    got = joined(list_of_heads.gradients(w, q, k, v, target))
    moved = joined(moved_by(w, q, k, v, (2 * budget + 2 * u * error) / B))
    sums = {n: x + moved.named()[n] for n, x in room.named().items()}
    compared(got, state(layer, grad=True), Parameters(**sums))


def moved_by(w: Weights, query: Array, key: Array, value: Array, budget: Array) -> Weights:
    """The largest change of the gradients, linear in the error, for errors up to `budget`."""
    _, heads, both = list_of_heads.forward(w, query, key, value)
    columns = np.split(budget @ np.abs(w.output).T, H, axis=-1)
    q, k, v = (np.abs(x) for x in (query, key, value))
    dq, dk, dv = [], [], []
    for head, a in zip(heads, columns, strict=True):
        ds = a @ np.abs(head.v).swapaxes(-1, -2)
        dt = head.s * (ds + (head.s * ds).sum(axis=-1, keepdims=True)) / math.sqrt(D)
        dq.append(list_of_heads.outer(q, dt @ np.abs(head.k)))
        dk.append(list_of_heads.outer(k, dt.swapaxes(-1, -2) @ np.abs(head.q)))
        dv.append(list_of_heads.outer(v, head.s.swapaxes(-1, -2) @ a))
    return Weights(dq, dk, dv, list_of_heads.outer(np.abs(both), budget))


def test_published_gradients_are_right_only_for_values_and_output() -> None:
    w, inputs = system(N)
    right = joined(list_of_heads.backward(w, *inputs)).named()
    wrong = joined(published_faults.takes_the_diagonal_for_the_jacobian(w, *inputs)).named()
    budget = budget_of(w, inputs).of_gradients.parameters.named()
    for name in ("W_v", "W_o"):
        equal(wrong[name], right[name], within=2 * budget[name])
    for name in ("W_q", "W_k"):
        error = np.abs(wrong[name] - right[name])
        assert (error > 2 * budget[name]).mean() > 0.99
        assert error.max() > np.abs(right[name]).max()  # as large as the gradients themselves


def test_published_gradients_are_right_for_a_single_token() -> None:
    w, inputs = system(1)
    for found in (
        list_of_heads.backward(w, *inputs),
        published_faults.takes_the_diagonal_for_the_jacobian(w, *inputs),
    ):
        for matrix in (*found.query, *found.key):
            assert not matrix.any()


def test_published_gradients_raise_an_exception_for_cross_attention() -> None:
    w, inputs = system()
    with pytest.raises(ValueError, match="mismatch"):
        published_faults.takes_the_diagonal_for_the_jacobian(w, *inputs)


def test_two_tokens_of_width_one_show_the_published_bug() -> None:
    one = np.ones((1, 1))
    w, x, dout = Weights([one], [one], [one], one), np.array([[[1.0], [2.0]]]), np.ones((1, 2, 1))
    budget = posed(joined(w), 1, x, x, x, dout=dout).of_gradients.parameters
    right = list_of_heads.backward(w, x, x, x, dout)
    wrong = published_faults.takes_the_diagonal_for_the_jacobian(w, x, x, x, dout)
    for name, got, want in zip(("W_q", "W_k"), wrong[:2], right[:2], strict=True):
        with pytest.raises(Violation):
            equal(got[0], want[0], within=2 * budget.named()[name])


def test_error_bound_rejects_arithmetic_in_float32() -> None:
    w, inputs = system()
    single = Weights(*([y.astype(np.float32) for y in ys] for ys in w[:3]), w.output)
    rough = joined(list_of_heads.backward(single, *[x.astype(np.float32) for x in inputs])).named()
    right = joined(list_of_heads.backward(w, *inputs)).named()
    budget = budget_of(w, inputs).of_gradients.parameters.named()
    for name in ("W_q", "W_k", "W_v"):
        with pytest.raises(Violation):
            equal(rough[name], right[name], within=2 * budget[name])


def test_errors_have_one_line() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide a width of 7"):
        list_of_heads.drawn(7, 3, np.random.default_rng(0))
    layer, dout = ListOfHeadsLayer(E, H), np.zeros((B, N, E))
    with pytest.raises(RuntimeError, match="no call to differentiate"):
        layer.backward(dout)
    with pytest.raises(RuntimeError, match="no gradient to descend along"):
        layer.step(0.5)
    with pytest.raises(ValueError, match=r"got shape \(5, 33\), want \(batch, length, width\)"):
        layer(*[np.zeros((N, E))] * 3)
