"""text-classifier: the function, the naive and the efficient layer, and positions."""

import math
from importlib.util import find_spec

import mpmath
import numpy as np
import pytest

from spec.attention.notation import Problem
from spec.attention.rounding import of_output, of_weights
from spec.attention.rounding.arithmetic import C_EXP
from spec.comparison import equal, same_bits
from spec.formats import FORMATS
from tests.implementations.systems import B, D, E, H, M, N, alike, drawn, same_draws, tensors, three

if find_spec("torch"):
    import torch

    from implementations.systems import positions
    from implementations.systems.efficient_layer import EfficientLayer
    from implementations.systems.naive_layer import NaiveLayer, stacked
    from implementations.systems.scaled_dot_product import scaled_dot_product_attention

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("bias", [True, False])
def test_efficient_layer_with_stacked_naive_weights_equals_naive_layer(bias: bool) -> None:
    with same_draws():
        naive, efficient = NaiveLayer(E, H, bias=bias).double(), EfficientLayer(E, H, bias).double()
        theirs = torch.nn.MultiheadAttention(E, H, bias=bias, batch_first=True).double()
    for other in (efficient, theirs):
        other.load_state_dict(stacked(naive))
        alike(naive, other, *three())


def test_stacked_weights_of_the_naive_layer_can_be_loaded_again() -> None:
    with same_draws():
        naive, again = NaiveLayer(E, H), NaiveLayer(E, H)
    state = stacked(naive)
    assert {name: tuple(x.shape) for name, x in state.items()} == {
        "in_proj_weight": (3 * E, E),
        "in_proj_bias": (3 * E,),
        "out_proj.weight": (E, E),
        "out_proj.bias": (E,),
    }
    for h, head in enumerate(naive.heads):
        rows = slice(E + h * D, E + (h + 1) * D)
        same_bits(state["in_proj_weight"][rows].numpy(), head.key.weight.detach().numpy())
    again.load_state_dict(state)
    for one, other in zip(again.parameters(), naive.parameters(), strict=True):
        same_bits(one.detach().numpy(), other.detach().numpy())


def test_unsupported_sizes_raise_an_exception() -> None:
    for layer in (NaiveLayer, EfficientLayer):
        with pytest.raises(ValueError, match="3 heads must divide a width of 7"):
            layer(7, 3)
        with pytest.raises(ValueError, match="batch come first"):
            layer(E, H, batch_first=False)
    with pytest.raises(ValueError, match="queries of width 11 do not match keys of width 13"):
        scaled_dot_product_attention(torch.zeros(B, N, 11), torch.zeros(B, M, 13))


def test_function_agrees_with_torch_on_the_published_shape() -> None:
    (x,) = drawn((2, 3, 6))
    theirs = torch.nn.functional.scaled_dot_product_attention(*tensors(x, x, x)).numpy()
    ours, weights = scaled_dot_product_attention(torch.from_numpy(x))
    four = Problem(*[x[:, None]] * 4)
    equal(ours.numpy(), theirs, within=2 * of_output(four)[:, 0])
    within = of_weights(four)[:, 0].sum(axis=-1)
    equal(weights.numpy().sum(axis=-1), np.ones((2, 3)), within=within)


@pytest.mark.parametrize("width", [E, 64])
def test_positions_equal_sines_and_cosines_of_mpmath(width: int) -> None:
    table = positions.sinusoidal(positions.MAX_LENGTH, width).numpy()
    assert table.shape == (256, width)
    u = FORMATS["float64"].u
    for p, c in [(0, 0), (1, 1), (7, 2), (13, 5), (255, 0), (255, 3), (255, width - 1)]:
        angle = mpmath.mpf(p) / mpmath.mpf(10000) ** (mpmath.mpf(c - c % 2) / width)
        want = float((mpmath.sin, mpmath.cos)[c % 2](angle))
        # The exponent, at most log(10000), in 4 roundings; exp and a product; sine.
        within = u * (float(angle) * (4 * math.log(1e4) + C_EXP + 1) + C_EXP)
        equal(table[p, c], np.float64(want), within=within)


def test_positions_are_added_in_the_dtype_of_the_tokens() -> None:
    add = positions.SinusoidalPositions(E, max_length=N).double()
    same_bits(add(torch.zeros(B, N, E, dtype=torch.float64))[1].numpy(), add.table.numpy())
    same_bits(add(torch.zeros(B, N, E))[1].numpy(), add.table.float().numpy())
    assert not list(add.parameters())
    assert not add.state_dict()
    with pytest.raises(ValueError, match="6 tokens, but a table of 5 positions"):
        add(torch.zeros(B, N + 1, E))
