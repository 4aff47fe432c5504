"""Decoding with a cache: the clauses hold for what is right."""

from collections.abc import Callable
from functools import cache as once
from functools import partial
from importlib import import_module

import pytest

from implementations import TARGETS
from implementations.cached import Growing, fixed
from implementations.computing_anew import WAYS, Way, cache_of, first_way
from implementations.paged import Paged
from implementations.rolling import Rolling
from spec import CLAUSES
from spec.attention.mistakes import MISTAKES as ATTENTION_MISTAKES
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.record import Implementation
from spec.cache.definition import DEFINITION
from spec.cache.plug import cache
from spec.cache.record import Cache
from tests.judging import QUICK, broken, found
from tests.night import deep

NUMPY = ("float64", "float32", "float16")
TORCH = ("float32", "bfloat16")


def of_torch(name: str) -> Cache:
    return cache(getattr(import_module("implementations.cached_torch"), name))


@once
def dense() -> Implementation:
    return implementation(import_module("implementations.dense").attend)


@once
def bottom_right() -> Implementation:
    """Attention whose causal diagonal ends in the other corner, as declared."""
    attend = ATTENTION_MISTAKES["lets_the_last_query_see_the_last_key"].target
    return implementation(attend, backend="numpy", conventions={"causal": "bottom-right"})


def by_way(way: Way) -> Cache:
    return cache_of(bottom_right() if way == "corner" else dense(), way)


RIGHT: dict[str, tuple[Callable[[], Cache], tuple[str, ...]]] = {
    "definition": (lambda: DEFINITION, ("float64",)),
    "growing": (partial(cache, Growing), NUMPY),
    "fixed": (partial(cache, fixed), ("float32",)),
    "paged": (partial(cache, Paged), ("float64",)),
    "rolling": (partial(cache, Rolling), NUMPY),
    **{f"by {way}": (partial(by_way, way), ("float32",)) for way in WAYS},
}
IN_TORCH = {
    "static": (partial(of_torch, "Static"), TORCH),
    "joined": (partial(of_torch, "Joined"), TORCH),
}
FACTORIES = {**RIGHT, **IN_TORCH}


@once
def right(name: str) -> Cache:
    return FACTORIES[name][0]()


NAMES = [*RIGHT, *(pytest.param(name, marks=pytest.mark.torch) for name in IN_TORCH)]


@pytest.mark.quick("rolling", "joined")
@pytest.mark.parametrize("name", [deep(x) if x == "by mask" else x for x in NAMES])
def test_every_clause_holds_for_what_is_right(name: str) -> None:
    """In one format, float32 if it has that."""
    dtypes = FACTORIES[name][1]
    dtype = "float32" if "float32" in dtypes else dtypes[0]
    assert not broken(right(name), dtype, QUICK, reach="quick")


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_every_clause_holds_in_every_format(name: str) -> None:
    for dtype in FACTORIES[name][1]:
        assert not broken(right(name), dtype, QUICK, reach="quick")


def test_a_cache_asks_by_the_first_way_that_is_answered() -> None:
    assert first_way(bottom_right()) == "corner"
    assert first_way(dense()) == "mask"
    without = dense().but(answers=dense().answers - {Capability.MASK})
    assert first_way(without) == "square"
    assert first_way(without.but(answers=frozenset())) == "token"


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(20))
def test_no_false_alarm(name: str, seed: int) -> None:
    """The dtypes by turns, and the sizes of the standard profile."""
    dtypes = FACTORIES[name][1]
    dtype = dtypes[seed % len(dtypes)]
    assert not broken(right(name), dtype, examples=6, seed=seed)


@pytest.mark.parametrize("target", [t.name for t in TARGETS if t.backend == "numpy"])
def test_every_right_attention_function_is_a_cache(target: str) -> None:
    module, _, name = target.partition(":")
    record = cache_of(implementation(getattr(import_module(module), name)))
    for number in ("C17", "C23", "C28"):
        assert found(CLAUSES[number], record, "float64", examples=2).violation is None


def test_the_other_corner_makes_no_cache() -> None:
    """Top-left causality for a chunk with a past is what C17, C18 and C21 are there to reject."""
    record = cache_of(dense(), way="corner")
    for number in ("C16", "C17", "C18", "C19", "C21"):
        assert found(CLAUSES[number], record, "float32").violation is not None
    assert found(CLAUSES["C20"], record, "float32").violation is None


@pytest.mark.parametrize("name", ["sees_one_key_ahead", "scales_by_model_width"])
def test_a_wrong_attention_function_makes_a_wrong_cache(name: str) -> None:
    attend = ATTENTION_MISTAKES[name].target
    record = cache_of(implementation(attend, backend="numpy"), way="square")
    assert found(CLAUSES["C17"], record, "float32").violation is not None
