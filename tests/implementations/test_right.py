"""The implementations are right, cheap where they promise to be, and leave their inputs alone.

Everything is held to `oracles.autograd`, within the budget of the very problem.
"""

import importlib
import itertools
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from functools import cache
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
from spec.notation import DTYPES, Array
from tests.implementations.places import LONG_PLACED, PLACED
from tests.implementations.problems import (
    LONG,
    PROBLEMS,
    B,
    D,
    M,
    N,
    additive,
    boolean,
    poisoned,
    problem,
    segments,
    sinks,
    slopes,
)
from tests.night import deep

pytestmark = pytest.mark.torch
EVERY, LENGTHY = {**PROBLEMS, **PLACED}, {**LONG, **LONG_PLACED}
TURNS = [0, *map(deep, range(1, len(DTYPES)))]
OTHER = [name if n % 2 else deep(name) for n, name in enumerate(EVERY)]  # which each option is in


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
    if p.sinks is not None:
        gradients["sinks"] = record.sink_gradient(p)
    if p.slopes is not None:
        gradients["slopes"] = record.slope_gradient(p)
    return {"o": record.forward(p), "a": record.weights(p), "lse": record.lse(p), **gradients}


@cache
def told(name: str, dtype: str, taught: bool = False) -> tuple[Problem, Mapping[str, Array]]:
    """A problem, `taught` by a cotangent of its log-sum-exp or not, and what the oracle says."""
    p = EVERY[name]()
    dlse = np.random.default_rng(5).integers(-32, 33, p.dout.shape[:3]) / 16
    p = p.but(dtype=dtype, **({"dlse": dlse} if taught else {}))
    return p, oracle(p)


def check(record: Implementation, p: Problem, want: Mapping[str, Array]) -> None:
    """Hold all that an implementation offers to the oracle."""
    budget = rounding.of_gradients(p)
    equal(record.forward(p), want["o"], within=rounding.of_output(p))
    got = record.backward(p)
    for x in "qkv":
        equal(getattr(got, x), want[x], within=getattr(budget, x))
    if p.sinks is not None:
        equal(record.sink_gradient(p), want["sinks"], within=budget.sinks)
    if p.slopes is not None:
        equal(record.slope_gradient(p), want["slopes"], within=budget.slopes)
    if Capability.WEIGHTS in record.offers:
        equal(record.weights(p), want["a"], within=rounding.of_weights(p))
    if Capability.LSE in record.offers:
        equal(record.lse(p), want["lse"], within=rounding.of_lse(p))


@pytest.fixture(params=TARGETS, ids=lambda target: target.name)
def record(request: pytest.FixtureRequest) -> Implementation:
    return load(request.param)


def in_turn(record: Implementation, name: str, turn: int) -> str:
    """One of the formats of an implementation; in as many turns as it has formats, each of them."""
    return record.dtypes[([*EVERY].index(name) + turn) % len(record.dtypes)]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("name", EVERY)
def test_every_result_is_that_of_autograd(record: Implementation, name: str, turn: int):
    check(record, *told(name, in_turn(record, name, turn)))


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("name", OTHER)
def test_what_comes_back_through_the_log_sum_exp_is_that_of_autograd(
    record: Implementation, name: str, turn: int
) -> None:
    p, want = told(name, in_turn(record, name, turn), taught=True)
    got, budget = record.lse_backward(p), rounding.of_gradients(p)
    for x in "qkv":
        equal(getattr(got, x), want[x], within=getattr(budget, x))
    if p.sinks is not None:
        equal(record.sink_gradient(p), want["sinks"], within=budget.sinks)
    if p.slopes is not None:
        equal(record.slope_gradient(p), want["slopes"], within=budget.slopes)


@pytest.mark.parametrize("name", LENGTHY)
def test_the_edges_of_tiles_do_not_show(name: str):
    p = LENGTHY[name]().but(dtype="float32")
    want = oracle(p)
    for module in (fused, fused_torch):
        check(implementation(module.attend), p, want)


def test_the_definition_agrees_with_autograd():
    for name in EVERY:
        p, want = told(name, "float64")
        budget, got = rounding.of_gradients(p), definition.gradients(p)
        equal(definition.attention(p), want["o"], within=rounding.of_output(p))
        equal(definition.weights(p), want["a"], within=rounding.of_weights(p))
        equal(definition.lse(p), want["lse"], within=rounding.of_lse(p))
        for x in "qkv":
            equal(getattr(got, x), want[x], within=getattr(budget, x))
        if p.sinks is not None:
            equal(got.sinks, want["sinks"], within=budget.sinks)
        if p.slopes is not None:
            equal(got.slopes, want["slopes"], within=budget.slopes)


def test_what_is_hidden_from_all_may_be_enormous(record: Implementation):
    places = {"query_positions": np.arange(N) + np.zeros((B, 1), int)}
    for more in ({}, {"sinks": sinks(h2=-np.inf)}, {"slopes": slopes()}, segments(), places):
        p = poisoned().but(dtype="float32", **more)
        check(record, p, oracle(p))


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
    sunk, slanted = (x.astype(np.float32) for x in (sinks(h2=-np.inf), slopes()))
    turned = {"query_positions": np.tile(np.arange(N)[::-1], (B, 1))}
    texts = segments(), segments(7, mixed=True), turned
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mask, t, m, x in itertools.product(masks, (None, sunk), (None, slanted), ({}, *texts)):
            options = {"attn_mask": mask, "is_causal": True, "enable_gqa": True, **x}
            options |= {"sinks": t, "alibi_slopes": m}
            for function in filter(None, functions):
                function(q, k, v, **options)
            module.backward(dout, q, k, v, **options)
            if t is not None:
                module.sink_gradient(dout, q, k, v, **options)
            if m is not None:
                module.slope_gradient(dout, q, k, v, **options)


@pytest.mark.slow
def test_fused_memory_is_a_small_part_of_one_matrix():
    size = 4096
    q, k, v, dout = np.random.default_rng(3).standard_normal((4, 1, 1, size, D), dtype=np.float32)
    matrix, t = q.itemsize * size**2, np.zeros(1, np.float32)
    rows = np.arange(size)[None]
    turns = dict.fromkeys(("query_segments", "key_segments"), rows % 3)
    places = dict.fromkeys(("query_positions", "key_positions"), rows * 1001 % size)
    for causal in (False, True):
        forward = peak(lambda c=causal: fused.attend(q, k, v, is_causal=c))
        backward = peak(lambda c=causal: fused.backward(dout, q, k, v, is_causal=c))
        by_sinks = peak(lambda c=causal: fused.sink_gradient(dout, q, k, v, t, is_causal=c))
        by_slopes = peak(lambda c=causal: fused.slope_gradient(dout, q, k, v, t, is_causal=c))
        sloping = peak(lambda c=causal: fused.attend(q, k, v, is_causal=c, alibi_slopes=t))
        texts = peak(lambda c=causal: fused.attend(q, k, v, is_causal=c, **turns))
        placed = peak(lambda c=causal: fused.attend(q, k, v, is_causal=c, **places))
        for found in (placed, texts, sloping, by_slopes, forward, by_sinks):
            assert found - q.nbytes < 0.05 * matrix
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
