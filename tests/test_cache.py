"""Decoding with a cache: the clauses hold for what is right, and reject what they say they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as once
from functools import partial
from importlib import import_module

import pytest

from implementations import TARGETS
from implementations.cached import Growing, fixed
from implementations.paged import Paged
from spec.backends import implementation
from spec.cache import CLAUSES, MISTAKES, SECTIONS, proofs
from spec.cache.adapter import WAYS, Way, cache_of, first_way
from spec.cache.definition import DEFINITION
from spec.cache.loading import cache
from spec.cache.record import Cache
from spec.certification.running import judged, scope_for
from spec.clause import Clause, Evidence, Violation
from spec.implementation import Capability, Implementation
from spec.mistakes import MISTAKES as ATTENTION_MISTAKES

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
    attend = ATTENTION_MISTAKES["lets_the_last_query_see_the_last_key"].attend
    return implementation(attend, backend="numpy", conventions={"causal": "bottom-right"})


def by_way(way: Way) -> Cache:
    return cache_of(bottom_right() if way == "corner" else dense(), way)


RIGHT: dict[str, tuple[Callable[[], Cache], tuple[str, ...]]] = {
    "definition": (lambda: DEFINITION, ("float64",)),
    "growing": (partial(cache, Growing), NUMPY),
    "fixed": (partial(cache, fixed), ("float32",)),
    "paged": (partial(cache, Paged), ("float64",)),
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


def broken(
    clause: Clause, record: Cache, dtype: str, examples: int, seed: int, reach: str = "standard"
) -> Violation | None:
    scope = scope_for(clause, record, dtype, "strict", reach)
    return judged(clause, record, scope, examples=examples, seed=seed).violation


def all_broken(
    record: Cache, dtypes: tuple[str, ...], examples: int, seed: int = 0, reach: str = "quick"
) -> list[str]:
    """The clauses that a record breaks, `should` or not."""
    return [
        f"{clause.id} in {dtype}: {violation}"
        for dtype in dtypes
        for clause in CLAUSES.values()
        if clause.binds(record)
        and (violation := broken(clause, record, dtype, examples, seed, reach)) is not None
    ]


# What is right

NAMES = [*RIGHT, *(pytest.param(name, marks=pytest.mark.torch) for name in IN_TORCH)]


@pytest.mark.parametrize("name", NAMES)
def test_every_clause_holds_for_what_is_right(name: str) -> None:
    assert not all_broken(right(name), FACTORIES[name][1], examples=4)


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
    assert not all_broken(right(name), (dtype,), examples=6, seed=seed, reach="standard")


@pytest.mark.parametrize("target", [t.name for t in TARGETS if t.backend == "numpy"])
def test_every_right_attention_function_is_a_cache(target: str) -> None:
    module, _, name = target.partition(":")
    record = cache_of(implementation(getattr(import_module(module), name)))
    for number in ("C17", "C23", "C28"):
        assert broken(CLAUSES[number], record, "float64", examples=2, seed=0) is None


def test_the_other_corner_makes_no_cache() -> None:
    """Top-left causality for a chunk with a past is what C17, C18 and C21 are there to reject."""
    record = cache_of(dense(), way="corner")
    for number in ("C16", "C17", "C18", "C19", "C21"):
        assert broken(CLAUSES[number], record, "float32", examples=25, seed=0) is not None
    assert broken(CLAUSES["C20"], record, "float32", examples=25, seed=0) is None


@pytest.mark.parametrize("name", ["sees_one_key_ahead", "scales_by_model_width"])
def test_a_wrong_attention_function_makes_a_wrong_cache(name: str) -> None:
    attend = ATTENTION_MISTAKES[name].attend
    record = cache_of(implementation(attend, backend="numpy"), way="square")
    assert broken(CLAUSES["C17"], record, "float32", examples=25, seed=0) is not None


# What is wrong

PAIRS = [(clause, name) for clause in CLAUSES.values() for name in sorted(clause.catches)]
IDS = [f"{clause.number}-{name}" for clause, name in PAIRS]


def refuted(clause: Clause, name: str, seed: int) -> bool:
    mistake = MISTAKES[name]
    return any(broken(clause, mistake.record, x, 25, seed) is not None for x in mistake.dtypes)


@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=IDS)
def test_a_clause_rejects_the_mistakes_it_names(clause: Clause, name: str) -> None:
    assert refuted(clause, name, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=IDS)
def test_a_clause_rejects_them_for_any_seed(clause: Clause, name: str) -> None:
    assert all(refuted(clause, name, seed) for seed in range(1, 5))


def test_every_mistake_is_named_by_a_clause_of_its_force() -> None:
    for name, mistake in MISTAKES.items():
        forces = {c.force for c in CLAUSES.values() if name in c.catches}
        assert (mistake.force in forces) != mistake.harmless


@pytest.mark.parametrize("name", [n for n, m in MISTAKES.items() if m.harmless])
def test_what_is_harmless_is_certified(name: str) -> None:
    assert not all_broken(MISTAKES[name].record, ("float32",), examples=4)


# The text of the specification


def test_numbers_go_on_from_the_clauses_about_attention_without_a_gap() -> None:
    found = [c for s in SECTIONS for c in vars(s).values() if isinstance(c, Clause)]
    assert [c.number for c in found] == [f"C{n}" for n in range(16, 16 + len(found))]
    assert len(CLAUSES) == len(found)


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_a_clause_says_what_it_claims(clause: Clause) -> None:
    assert clause.sentence.endswith(".")
    assert clause.formula
    assert clause.catches <= set(MISTAKES)


THEOREMS = {name: x for name, x in vars(proofs).items() if isinstance(x, Evidence)}


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem_is_zero_and_its_control_is_not(name: str) -> None:
    assert (THEOREMS[name].function() == 0).all()
    assert (THEOREMS[name].control() != 0).any()
