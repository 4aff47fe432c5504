"""The feed-forward network: what is right keeps every clause, mistakes break those naming them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

import implementations.feed_forward
from spec.certification.running import Finding, judged, scope_for
from spec.clause import Clause
from spec.feed_forward import CLAUSES, MISTAKES
from spec.feed_forward.loading import feed_forward
from spec.feed_forward.notation import FeedForward

EXAMPLES, QUICK = 25, 4
PAIRS = [(clause, name) for clause in CLAUSES.values() for name in sorted(clause.catches)]
PAIR_IDS = [f"{clause.number}-{name}" for clause, name in PAIRS]
WRONG = [name for name, mistake in MISTAKES.items() if not mistake.harmless]
HARMLESS = [name for name, mistake in MISTAKES.items() if mistake.harmless]
RIGHT = ["numpy", *(("torch", "module") if find_spec("torch") else ())]
CASES = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name in RIGHT
    for dtype in ("float64", "float32", "float16", "bfloat16")
    if (name, dtype) != ("numpy", "bfloat16")
]


@cache
def right(name: str) -> FeedForward:
    if name == "numpy":
        return feed_forward(implementations.feed_forward.feed_forward)
    from implementations import feed_forward_torch

    targets = {"torch": feed_forward_torch.feed_forward, "module": feed_forward_torch.FeedForward}
    return feed_forward(targets[name])


@cache
def made(name: str) -> FeedForward:
    return feed_forward(MISTAKES[name].record, name=name, backend="numpy")


def found(clause: Clause, network: FeedForward, dtype: str, examples: int, seed: int) -> Finding:
    scope = scope_for(clause, network, dtype, "strict", "standard")
    return judged(clause, network, scope, examples=examples, seed=seed)


def refuted(clause: Clause, name: str, seed: int) -> bool:
    findings = (found(clause, made(name), dtype, EXAMPLES, seed) for dtype in MISTAKES[name].dtypes)
    return any(finding.violation is not None for finding in findings)


def broken(network: FeedForward, dtype: str, examples: int, seed: int) -> list[tuple[str, Any]]:
    findings = {c.id: found(c, network, dtype, examples, seed) for c in CLAUSES.values()}
    return [(name, finding.violation) for name, finding in findings.items() if finding.violation]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_every_clause_holds_for_what_is_right(name: str, dtype: str) -> None:
    assert all(clause.binds(right(name)) for clause in CLAUSES.values())
    assert not broken(right(name), dtype, QUICK, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_there_are_no_false_alarms(name: str, dtype: str, seed: int) -> None:
    assert not broken(right(name), dtype, EXAMPLES, seed)


@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=PAIR_IDS)
def test_a_clause_rejects_the_mistakes_it_names(clause: Clause, name: str) -> None:
    assert refuted(clause, name, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=PAIR_IDS)
def test_a_clause_rejects_them_for_any_seed(clause: Clause, name: str) -> None:
    assert all(refuted(clause, name, seed) for seed in range(1, 5))


def test_every_mistake_is_named_by_a_clause_of_its_force() -> None:
    for force in ("must", "should"):
        named = {name for c in CLAUSES.values() if c.force == force for name in c.catches}
        assert named == {name for name in WRONG if MISTAKES[name].force == force}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_breaks_no_clause(name: str) -> None:
    assert not broken(made(name), "float32", QUICK, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_breaks_no_clause_for_any_seed(name: str, seed: int) -> None:
    assert not broken(made(name), "float32", EXAMPLES, seed)


def test_clauses_are_numbered_without_gaps() -> None:
    assert list(CLAUSES) == [f"F{i + 1}" for i in range(len(CLAUSES))]
