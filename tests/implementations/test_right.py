"""The implementations are right, cheap where they promise to be, and leave their inputs alone.

Everything is held to `oracles.autograd`, which nobody differentiated by hand, within
the budget of the very problem. No two axes of a problem have the same size.
"""

import importlib
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch

from implementations import TARGETS, Target, fused, fused_torch
from implementations.dense import mask_of_lengths
from oracles import autograd, sdpa
from spec.attention import definition, rounding
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.record import Implementation
from spec.comparison import equal
from spec.notation import Array

pytestmark = pytest.mark.torch

B, H, G, N, M, D, E = 2, 6, 3, 5, 7, 11, 13


def problem(seed: int = 0, *, long: bool = False, **changes: Any) -> Problem:
    """Numbers that float16 and bfloat16 hold exactly; `long` ones cross the edges of tiles."""
    chance = np.random.default_rng(seed)
    n, m = (fused_torch.QUERIES + 3, fused_torch.KEYS + 5) if long else (N, M)
    b, h, g = (1, 2, 1) if long else (B, H, G)
    shapes = ((b, h, n, D), (b, g, m, D), (b, g, m, E), (b, h, n, E))
    q, k, v, dout = (chance.integers(-32, 33, shape) / 16 for shape in shapes)
    return Problem(q, k, v, dout).but(**changes)


def boolean(seed: int = 1) -> Array:
    """A random mask that hides every key from query 2 of every head."""
    mask = np.random.default_rng(seed).random((H, N, M)) < 0.5
    mask[:, 2] = False
    return mask


def additive(seed: int = 2) -> Array:
    """A bias shared by the batch and by the queries; every third key is forbidden."""
    bias = np.random.default_rng(seed).integers(-8, 9, (H, 1, M)) / 4
    bias[..., ::3] = -np.inf
    return bias


def poisoned() -> Problem:
    """Numbers near the largest float32 wherever causality hides a key from every query."""
    p = problem(causal=True)
    k, v = p.k.copy(), p.v.copy()
    k[:, :, N:], v[:, :, N:] = 2.0**127, -(2.0**127)
    return p.but(k=k, v=v)


PROBLEMS: Mapping[str, Callable[[], Problem]] = {
    "plain": problem,
    "causal": lambda: problem(causal=True),
    "mask with an idle row": lambda: problem(mask=boolean()),
    "mask and causal": lambda: problem(mask=boolean(), causal=True),
    "bias": lambda: problem(mask=additive()),
    "bias and causal": lambda: problem(mask=additive(), causal=True),
    "lengths 0 and 3": lambda: problem(mask=mask_of_lengths(np.array([0, 3]), M)),
    "scale 0": lambda: problem(scale=0.0),
    "scale -2": lambda: problem(scale=-2.0),
    "scores of thousands": lambda: problem(scale=64.0),
    "transposed": lambda: problem(memory="transposed", causal=True),
    "strided": lambda: problem(memory="strided", mask=boolean()),
    "a window": lambda: problem(window=(1, 2)),
    "a window that ends ahead alone": lambda: problem(window=(None, 1)),
    "a window and causal": lambda: problem(window=(2, None), causal=True),
    "a window and a mask": lambda: problem(window=(2, 1), mask=boolean()),
    "a window and a bias": lambda: problem(window=(2, 1), mask=additive()),
    "a cap": lambda: problem(softcap=0.5),
    "a cap that is hardly reached": lambda: problem(softcap=30.0),
    "a cap, a window and causal": lambda: problem(softcap=1.0, window=(2, None), causal=True),
    "a cap and a mask": lambda: problem(softcap=1.0, mask=boolean()),
    "a cap and a bias": lambda: problem(softcap=1.0, mask=additive()),
    "no keys": lambda: problem().but(k=np.zeros((B, G, 0, D)), v=np.zeros((B, G, 0, E))),
    "no queries": lambda: problem().but(q=np.zeros((B, H, 0, D)), dout=np.zeros((B, H, 0, E))),
    "no values": lambda: problem().but(v=np.zeros((B, G, M, 0)), dout=np.zeros((B, H, N, 0))),
}
LONG: Mapping[str, Callable[[], Problem]] = {
    "long": lambda: problem(long=True),
    "long and causal": lambda: problem(long=True, causal=True),
    "long through a window": lambda: problem(long=True, window=(200, 70)),
    "long through a window of two keys": lambda: problem(long=True, window=(1, 0)),
    "long under a cap": lambda: problem(long=True, softcap=2.0, causal=True),
    "long from far behind": lambda: problem(long=True, window=(fused.KEYS, None)),
    "more queries than a window leaves keys": lambda: turned(problem(long=True, window=(9, 9))),
    "a whole tile forbidden": lambda: problem(
        long=True, mask=np.arange(fused_torch.KEYS + 5) >= fused.KEYS
    ),
}


def turned(p: Problem) -> Problem:
    """As many queries as there were keys, and as many keys as there were queries."""
    n, m = p.M, p.N
    q, dout = (np.resize(x, (*x.shape[:2], n, x.shape[3])) for x in (p.q, p.dout))
    return p.but(q=q, dout=dout, k=p.k[:, :, :m], v=p.v[:, :, :m])


def load(target: Target) -> Implementation:
    """The record of one target."""
    module, _, name = target.name.partition(":")
    function = getattr(importlib.import_module(module), name)
    return implementation(function, backend=target.backend, layout=target.layout)


def oracle(p: Problem) -> Mapping[str, Array]:
    """Output, gradients, weights and log-sum-exp by torch's autograd in float64."""
    record = implementation(autograd.attend)
    p = p.but(dtype="float64", memory="contiguous")
    found = record.backward(p)
    gradients = {"q": found.q, "k": found.k, "v": found.v}
    return {"o": record.forward(p), "a": record.weights(p), "lse": record.lse(p), **gradients}


def check(record: Implementation, p: Problem) -> None:
    """Hold all that an implementation offers to the oracle."""
    want, budget = oracle(p), rounding.of_gradients(p)
    equal(record.forward(p), want["o"], within=rounding.of_output(p))
    got = record.backward(p)
    equal(got.q, want["q"], within=budget.q)
    equal(got.k, want["k"], within=budget.k)
    equal(got.v, want["v"], within=budget.v)
    if Capability.WEIGHTS in record.offers:
        equal(record.weights(p), want["a"], within=rounding.of_weights(p))
    if Capability.LSE in record.offers:
        equal(record.lse(p), want["lse"], within=rounding.of_lse(p))


@pytest.fixture(params=TARGETS, ids=lambda target: target.name)
def record(request: pytest.FixtureRequest) -> Implementation:
    return load(request.param)


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_result_is_that_of_autograd_in_every_dtype(record: Implementation, name: str):
    for dtype in record.dtypes:
        check(record, PROBLEMS[name]().but(dtype=dtype))


@pytest.mark.parametrize("name", LONG)
def test_the_edges_of_tiles_do_not_show(name: str):
    for module in (fused, fused_torch):
        check(implementation(module.attend), LONG[name]().but(dtype="float32"))


def test_the_definition_agrees_with_autograd():
    for make in PROBLEMS.values():
        p = make()
        want, budget, got = oracle(p), rounding.of_gradients(p), definition.gradients(p)
        equal(definition.attention(p), want["o"], within=rounding.of_output(p))
        equal(definition.weights(p), want["a"], within=rounding.of_weights(p))
        equal(definition.lse(p), want["lse"], within=rounding.of_lse(p))
        equal(got.q, want["q"], within=budget.q)
        equal(got.k, want["k"], within=budget.k)
        equal(got.v, want["v"], within=budget.v)


def test_what_is_hidden_from_all_may_be_enormous(record: Implementation):
    check(record, poisoned().but(dtype="float32"))


def test_an_additive_mask_gets_a_gradient_in_torch():
    for target in (t for t in TARGETS if t.backend == "torch"):
        for p in (problem(mask=additive()), problem(mask=additive()[0, 0], causal=True)):
            terms, budget = definition.gradients(p).bias, rounding.of_gradients(p).bias
            axes = tuple(a for a, n in enumerate((1,) * (4 - p.mask.ndim) + p.mask.shape) if n == 1)
            want = terms.sum(axis=axes).reshape(p.mask.shape)
            within = rounding.of_sum(terms, budget, p.mask.shape, p)
            equal(load(target).bias_gradient(p), want, within=within)


def test_inputs_stay_as_they_were_and_are_not_shared(record: Implementation):
    for p in (problem(mask=boolean(), causal=True), problem(mask=additive(), memory="strided")):
        for dtype in record.dtypes:
            call = record.call(p.but(dtype=dtype))
            assert call.dtype == dtype
            assert call.changed == ()
            assert call.aliased == ()


@pytest.mark.parametrize("target", [t for t in TARGETS if t.backend == "numpy"])
def test_nothing_warns(target: Target):
    module = importlib.import_module(target.name.partition(":")[0])
    masks = (None, boolean(), additive().astype(np.float32), np.zeros((N, M), bool))
    p = poisoned()
    q, k, v, dout = (x.astype(np.float32) for x in (p.q, p.k, p.v, p.dout))
    functions = [getattr(module, name, None) for name in ("attend", "weights", "lse")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mask in masks:
            options = {"attn_mask": mask, "is_causal": True, "enable_gqa": True}
            for function in filter(None, functions):
                function(q, k, v, **options)
            module.backward(dout, q, k, v, **options)


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
@pytest.mark.parametrize("softcap", [0.0, -1.0, float("inf"), float("nan")])
def test_a_cap_that_is_not_positive_is_refused(target: Target, softcap: float):
    module, _, name = target.name.partition(":")
    attend = getattr(importlib.import_module(module), name)
    x = (np.zeros if target.backend == "numpy" else torch.zeros)((1, 1, 3, 2))
    with pytest.raises(ValueError, match="a cap is positive and finite") as refused:
        attend(x, x, x, softcap=softcap)
    assert "\n" not in str(refused.value)


def test_fused_memory_is_a_small_part_of_one_matrix():
    size = 4096
    q, k, v, dout = np.random.default_rng(3).standard_normal((4, 1, 1, size, D), dtype=np.float32)
    matrix = q.itemsize * size**2
    for causal in (False, True):
        forward = peak(lambda c=causal: fused.attend(q, k, v, is_causal=c))
        backward = peak(lambda c=causal: fused.backward(dout, q, k, v, is_causal=c))
        assert forward - q.nbytes < 0.05 * matrix
        assert backward - 3 * q.nbytes < 0.05 * matrix


def peak(run: Callable[[], object]) -> int:
    """The most memory, in bytes, that was in use at once."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_mask_of_lengths_shows_the_first_keys():
    mask = mask_of_lengths(np.array([3, 0]), 5)
    assert mask.shape == (2, 1, 1, 5)
    assert mask[:, 0, 0].tolist() == [[True] * 3 + [False] * 2, [False] * 5]


@pytest.mark.parametrize("kernel", [sdpa.math, sdpa.flash])
def test_torch_kernels_are_within_budget_where_they_answer(kernel: Callable[..., Any]):
    p = problem(dtype="float32", causal=True)
    p = p.but(v=p.v[..., :D], dout=p.dout[..., :D])
    record = implementation(kernel)
    equal(record.forward(p), rounding.reference(p).o, within=rounding.of_output(p))


def test_the_composed_kernel_of_torch_refuses_mask_and_causal_together():
    q = torch.zeros(1, 2, 3, 5)
    with pytest.raises(RuntimeError, match="attn_mask"):
        sdpa.math(q, q, q, attn_mask=torch.ones(3, 3, dtype=torch.bool), is_causal=True)
