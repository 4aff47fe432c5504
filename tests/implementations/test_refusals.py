"""What no implementation answers is refused by each of them, in one clear line."""

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from implementations import TARGETS, Target

pytestmark = pytest.mark.torch
TOLD = r"^slopes are finite numbers of the shape \(2,\) or \(3, 2\)$"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_heads_that_cannot_be_shared_are_refused(target: Target):
    module, _, name = target.name.partition(":")
    attend = getattr(importlib.import_module(module), name)
    zeros = np.zeros if target.backend == "numpy" else torch.zeros
    q = zeros((1, 6, 5, 3))
    with pytest.raises(ValueError, match="6 query heads cannot share 3 key heads"):
        attend(q, zeros((1, 3, 7, 3)), zeros((1, 3, 7, 2)))
    with pytest.raises(ValueError, match="6 query heads cannot share 4 key heads"):
        attend(q, zeros((1, 4, 7, 3)), zeros((1, 4, 7, 2)), enable_gqa=True)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_negative_bound_is_refused(target: Target):
    module, _, name = target.name.partition(":")
    attend = getattr(importlib.import_module(module), name)
    x = (np.zeros if target.backend == "numpy" else torch.zeros)((1, 1, 3, 2))
    for window in ((-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="a window has no negative bound") as refused:
            attend(x, x, x, window_size=window)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_fewer_first_keys_than_none_are_refused(target: Target):
    module, _, name = target.name.partition(":")
    attend = getattr(importlib.import_module(module), name)
    x = (np.zeros if target.backend == "numpy" else torch.zeros)((1, 1, 3, 2))
    with pytest.raises(ValueError, match=r"sink_size.*-1") as refused:
        attend(x, x, x, window_size=(1, 0), sink_size=-1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("softcap", [0.0, -1.0, float("inf"), float("nan")])
def test_a_cap_that_is_not_positive_is_refused(target: Target, softcap: float):
    module, _, name = target.name.partition(":")
    attend = getattr(importlib.import_module(module), name)
    x = (np.zeros if target.backend == "numpy" else torch.zeros)((1, 1, 3, 2))
    with pytest.raises(ValueError, match="a cap is positive and finite") as refused:
        attend(x, x, x, softcap=softcap)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("sinks", [[0.0], [0.0] * 3, [[0.0, 0.0]], [0.0, np.inf], [np.nan, 0.0]])
def test_sinks_that_are_no_number_for_each_head_are_refused(target: Target, sinks: list[float]):
    module = importlib.import_module(target.name.partition(":")[0])
    x = (np.zeros if target.backend == "numpy" else torch.zeros)((1, 2, 3, 2))
    t = (np.array if target.backend == "numpy" else torch.tensor)(sinks)
    functions = [getattr(module, name, None) for name in ("attend", "weights", "lse")]
    for function in filter(None, functions):
        with pytest.raises(ValueError, match="sinks are a number below inf for each of 2") as told:
            function(x, x, x, sinks=t)
        assert "\n" not in str(told.value)
    functions = [getattr(module, name, None) for name in ("backward", "sink_gradient")]
    for function in filter(None, functions):
        with pytest.raises(ValueError, match="sinks are a number below inf for each of 2"):
            function(x, x, x, x, sinks=t)


SEGMENTS = {
    "those of queries alone": ("of queries and keys, or of neither", [[0] * 3] * 2, None),
    "those of keys alone": ("of queries and keys, or of neither", None, [[0] * 4] * 2),
    "no batch": (r"segments are integers \(2, 3\), not .*\(3,\)", [0] * 3, [0] * 4),
    "one batch for two": (r"integers \(2, 4\), not .*\(1, 4\)", [[0] * 3] * 2, [[0] * 4]),
    "exchanged": (r"integers \(2, 3\), not .*\(2, 4\)", [[0] * 4] * 2, [[0] * 3] * 2),
    "no integers": (r"integers \(2, 4\), not .*float", [[0] * 3] * 2, [[0.0] * 4] * 2),
    "truth values": (r"integers \(2, 3\), not .*bool", [[True] * 3] * 2, [[0] * 4] * 2),
}


POSITIONS = {
    "no batch": (r"positions are integers, \(B, length\), not .*\(3,\)", [0] * 3, None),
    "one batch for two": (r"integers, \(B, length\), not .*\(1, 4\)", [[0] * 3] * 2, [[0] * 4]),
    "exchanged": (r"not .*\(2, 4\)", [[0] * 4] * 2, [[0] * 3] * 2),
    "no integers": ("not .*float", None, [[0.0] * 4] * 2),
    "truth values": ("not .*bool", [[True] * 3] * 2, [[0] * 4] * 2),
}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("name", SEGMENTS)
def test_what_are_no_segments_is_refused(target: Target, name: str):
    told, *both = SEGMENTS[name]
    refused_everywhere(target, told, ("query_segments", "key_segments"), both)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("name", POSITIONS)
def test_what_are_no_positions_is_refused(target: Target, name: str):
    told, *both = POSITIONS[name]
    refused_everywhere(target, told, ("query_positions", "key_positions"), both)


def refused_everywhere(target: Target, told: str, names: tuple[str, str], both: list[Any]) -> None:
    """Outputs and gradients alike refuse what queries (2, 1, 3, 5) and keys (2, 1, 4, 5) have."""
    module = importlib.import_module(target.name.partition(":")[0])
    library = np if target.backend == "numpy" else torch
    mine, theirs = (None if x is None else library.asarray(x) for x in both)
    q, k = library.zeros((2, 1, 3, 5)), library.zeros((2, 1, 4, 5))
    options = dict(zip(names, (mine, theirs), strict=True))
    for x in ("attend", "weights", "lse"):
        if hasattr(module, x):
            with pytest.raises(ValueError, match=told) as refused:
                getattr(module, x)(q, k, k, **options)
            assert "\n" not in str(refused.value)
    beside = {
        "sink_gradient": {"sinks": np.zeros(1)},
        "slope_gradient": {"alibi_slopes": np.ones(1)},
    }
    for x in ("backward", *beside):
        if hasattr(module, x):
            with pytest.raises(ValueError, match=told):
                getattr(module, x)(q, q, k, k, **options, **beside.get(x, {}))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize(
    "slopes", [[0.0], [0.0] * 3, [[0.0, 0.0]], [[[0.0, 0.0]]], [0.0, np.inf], [np.nan, 0.0]]
)
def test_slopes_that_are_not_finite_or_for_no_heads_are_refused(target: Target, slopes: Any):
    module = importlib.import_module(target.name.partition(":")[0])
    x = (np.zeros if target.backend == "numpy" else torch.zeros)((3, 2, 3, 2))
    m = (np.array if target.backend == "numpy" else torch.tensor)(slopes)
    functions = [getattr(module, name, None) for name in ("attend", "weights", "lse")]
    for function in filter(None, functions):
        with pytest.raises(ValueError, match=TOLD) as told:
            function(x, x, x, alibi_slopes=m)
        assert "\n" not in str(told.value)
    gradients = ("backward", "sink_gradient", "slope_gradient")
    for name in (name for name in gradients if hasattr(module, name)):
        sinks = {"sinks": np.zeros(2)} if name == "sink_gradient" else {}
        with pytest.raises(ValueError, match=TOLD):
            getattr(module, name)(x, x, x, x, alibi_slopes=m, **sinks)
