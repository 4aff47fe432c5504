"""einsum-layer: agreement with torch as published, and overflow only where exp overflows."""

from importlib.util import find_spec

import numpy as np
import pytest

from spec import about
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.attention.rounding import of_weights
from spec.comparison import equal
from tests.implementations.systems import E, H, alike, of_layer, same_draws, three
from tests.judging import found

if find_spec("torch"):
    import torch

    from implementations.systems import einsum_layer, published_faults_torch

pytestmark = pytest.mark.torch


def test_distance_to_torch_is_the_published_one() -> None:
    distances = []
    with same_draws():
        for _ in range(9):  # the source has one draw; the median of nine varies less
            x = torch.randn(8, 80, 12)
            theirs = torch.nn.MultiheadAttention(12, 2, bias=False, batch_first=True)
            with torch.no_grad():
                query, key, value = theirs.in_proj_weight.chunk(3)
                want, _ = theirs(x, x, x)
                last = theirs.out_proj.weight
                got = einsum_layer.multi_head_attention(x, key, query, value, last, 2)
            distances.append(((want - got).norm() / got.norm()).item())
    assert sorted(distances)[4] <= 2e-7  # published: 1.9810291e-07
    numbers = x.double().numpy()
    budget = of_layer(theirs, numbers, numbers, numbers, dtype="float32").of_output
    equal(got.double().numpy(), want.double().numpy(), within=2 * budget)


@pytest.mark.parametrize("bias", [True, False])
def test_layer_loads_weights_of_torch_and_takes_three_sequences(bias: bool) -> None:
    with same_draws():
        theirs = torch.nn.MultiheadAttention(E, H, bias=bias, batch_first=True).double()
        ours = einsum_layer.EinsumLayer(E, H, bias=bias).double()
    ours.load_state_dict(theirs.state_dict())
    alike(ours, theirs, *three())


@pytest.mark.parametrize(("dtype", "last"), [("float32", 88.7), ("float64", 709.7)])
def test_published_softmax_is_nan_where_exp_overflows_and_right_elsewhere(
    dtype: str, last: float
) -> None:
    for top in (last, last + 0.1):  # one score is 0, the other is this
        number = float(np.dtype(dtype).type(top))
        scores = torch.tensor([[[[number, 0.0]]]], dtype=getattr(torch, dtype))
        safe = einsum_layer.softmax(scores).double().numpy()
        published = published_faults_torch.softmax_without_the_maximum(scores).double().numpy()
        assert safe[..., 0].item() == 1.0
        if top > last:
            assert np.isnan(published).any()
            continue
        q, k = np.full((1, 1, 1, 1), number), np.array([[[[1.0], [0.0]]]])
        equal(published, safe, within=2 * of_weights(Problem(q, k, k, q, dtype=dtype)))


def test_bad_numbers_of_heads_and_bad_layouts_raise_an_exception() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide a width of 7"):
        einsum_layer.projected(torch.zeros(2, 5, 7), torch.zeros(7, 7), 3)
    with pytest.raises(ValueError, match="3 heads must divide a width of 7"):
        einsum_layer.EinsumLayer(7, 3)
    with pytest.raises(ValueError, match="batch come first"):
        einsum_layer.EinsumLayer(E, H, batch_first=False)


def test_other_strides_may_give_another_order_of_summation() -> None:
    """Seed 10 has a problem with equal batch elements; one of them alone has other strides."""
    one = implementation(einsum_layer.attend)
    clause = about("attention")["P4"]
    assert found(clause, one, "float32", seed=10).violation is None
