"""valid-lengths: the published shape, agreement with torch, and a valid length of zero."""

from importlib.util import find_spec

import numpy as np
import pytest

from implementations.systems import published_faults, valid_lengths
from implementations.systems.torch_names import PaddedLayer, lengths
from spec.comparison import equal, same_bits
from spec.notation import Array
from tests.implementations.systems import B, E, H, M, N, of_layer, same_draws, tensors, three

if find_spec("torch"):
    import torch


def system(bias: bool = True) -> tuple[valid_lengths.ValidLengthsLayer, list[Array]]:
    return valid_lengths.ValidLengthsLayer(E, H, np.random.default_rng(3), bias=bias), three()


def test_it_gives_the_published_shape() -> None:
    chance = np.random.default_rng(0)
    layer = valid_lengths.ValidLengthsLayer(100, 5, chance)
    x, y = chance.random((2, 4, 100)), chance.random((2, 6, 100))
    assert layer.forward(x, y, y, np.array([3, 2])).shape == (2, 4, 100)


@pytest.mark.torch
@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_the_layer_of_torch_with_a_padding_mask(bias: bool) -> None:
    layer, (q, k, v) = system(bias)
    lens = np.array([3, 7])
    with same_draws():
        theirs = torch.nn.MultiheadAttention(E, H, bias=True, batch_first=True).double()
    given = {
        "in_proj_weight": np.hstack([layer.query, layer.key, layer.value]).T.copy(),
        "in_proj_bias": np.hstack([layer.query_bias, layer.key_bias, layer.value_bias]),
        "out_proj.weight": layer.output.T.copy(),
        "out_proj.bias": layer.output_bias,
    }
    theirs.load_state_dict({name: torch.from_numpy(x) for name, x in given.items()})
    hidden = np.arange(M) >= lens[:, None]
    with torch.no_grad():
        want = theirs(*tensors(q, k, v), key_padding_mask=torch.from_numpy(hidden))[0].numpy()
    budget = of_layer(theirs, q, k, v, padding=hidden).of_output
    equal(layer.forward(q, k, v, lens), want, within=2 * budget)


def test_masked_keys_have_no_influence() -> None:
    layer, (q, k, v) = system()
    lens = np.array([3, 7])
    changed_k, changed_v = k.copy(), v.copy()
    changed_k[0, 3:], changed_v[0, 3:] = 1e3, -1e3
    before, after = (layer.forward(q, *kv, lens) for kv in ((k, v), (changed_k, changed_v)))
    same_bits(after, before)
    other = layer.forward(q, changed_k, changed_v, np.array([4, 7]))
    assert (other[0] != before[0]).any()


def test_fully_masked_queries_return_the_output_bias() -> None:
    layer, (q, k, v) = system()
    some, whole = (layer.forward(q, k, v, np.array([n, 5])) for n in (0, 7))
    same_bits(some[1], whole[1])
    same_bits(some[0], np.broadcast_to(layer.output_bias, (N, E)))


def test_published_layer_gives_nan_only_for_a_valid_length_of_zero() -> None:
    ours, published = PaddedLayer(E, H), published_faults.NothingIsNaN(E, H)
    published.load_state_dict(ours.state_dict())
    padding = np.arange(M) >= np.array([0, 5])[:, None]
    right, wrong = (layer(*three(), key_padding_mask=padding) for layer in (ours, published))
    assert np.isnan(wrong[0]).all()
    same_bits(wrong[1], right[1])


def test_bad_sizes_and_masks_raise_an_exception() -> None:
    layer, (q, k, v) = system()
    with pytest.raises(ValueError, match=r"valid_lens: got \(3,\), want \(2,\)"):
        layer.forward(q, k, v, np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="3 heads do not divide a width of 7"):
        valid_lengths.ValidLengthsLayer(7, 3, np.random.default_rng(0))
    with pytest.raises(ValueError, match="padding comes last"):
        lengths(np.array([[True, False]]))
    with pytest.raises(ValueError, match=r"got shape \(5, 33\)"):
        PaddedLayer(E, H)(*[np.zeros((N, E))] * 3)
    for attend in (valid_lengths.attend, published_faults.attends_to_nothing_as_nan):
        with pytest.raises(TypeError, match="add nothing to the scores"):
            attend(q[None], k[None], v[None], attn_mask=np.zeros((B, N, M)))
