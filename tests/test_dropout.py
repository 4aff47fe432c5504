"""Dropout: every clause holds for what is right, and rejects the mistakes that it names."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

import implementations.dropout
from spec.certification.running import Finding, judged, scope_for
from spec.clause import Clause
from spec.dropout import CLAUSES, MISTAKES
from spec.dropout.loading import dropout
from spec.dropout.notation import Dropout
from spec.implementation import Capability

EXAMPLES, QUICK = 25, 4
FORMATS = ("float64", "float32", "float16", "bfloat16")
PAIRS = [(clause, name) for clause in CLAUSES.values() for name in sorted(clause.catches)]
PAIR_IDS = [f"{clause.number}-{name}" for clause, name in PAIRS]
WRONG = [name for name, mistake in MISTAKES.items() if not mistake.harmless]
HARMLESS = [name for name, mistake in MISTAKES.items() if mistake.harmless]
BY_TORCH = ["torch", "module", "sdpa", "itself", "composed", "multihead"]
RIGHT = ["numpy", *(BY_TORCH if find_spec("torch") else ())]
CASES = [
    (name, dtype) for name in RIGHT for dtype in FORMATS if (name, dtype) != ("numpy", "bfloat16")
]
# Some of these: all of them where it is deep.
SELDOM = {"float64": ("module", "itself", "multihead"), "float32": ("sdpa",)}
SELDOM |= {"float16": tuple(RIGHT), "bfloat16": ("torch", "module", "itself", "composed")}
USUAL = [(name, dtype) for name, dtype in CASES if name not in SELDOM[dtype]]


@cache
def right(name: str) -> Dropout:
    if name == "numpy":
        return dropout(implementations.dropout.attend)
    import torch

    import oracles.dropout as oracle
    from implementations import dropout_torch as ours

    if name == "multihead":
        no_width_of_its_own = frozenset({Capability.WIDTHS, Capability.SCALE})
        return dropout(oracle.Multihead, refuses=no_width_of_its_own)
    targets = {"torch": ours.attend, "module": ours.Attention, "composed": oracle.composed}
    targets |= {"sdpa": oracle.attend, "itself": torch.nn.functional.scaled_dot_product_attention}
    return dropout(targets[name], name=name)


@cache
def made(name: str) -> Dropout:
    return dropout(MISTAKES[name].record, name=name, backend="numpy")


def found(clause: Clause, network: Dropout, dtype: str, examples: int, seed: int) -> Finding:
    scope = scope_for(clause, network, dtype, "strict", "standard")
    return judged(clause, network, scope, examples=examples, seed=seed)


def refuted(clause: Clause, name: str, seed: int, examples: int = EXAMPLES) -> bool:
    findings = (found(clause, made(name), dtype, examples, seed) for dtype in MISTAKES[name].dtypes)
    return any(finding.violation is not None for finding in findings)


def broken(network: Dropout, dtype: str, examples: int, seed: int) -> list[tuple[str, Any]]:
    bound = [clause for clause in CLAUSES.values() if clause.binds(network)]
    findings = {clause.id: found(clause, network, dtype, examples, seed) for clause in bound}
    return [(name, finding.violation) for name, finding in findings.items() if finding.violation]


@pytest.mark.parametrize(("name", "dtype"), USUAL)
def test_every_clause_holds_for_what_is_right(name: str, dtype: str) -> None:
    assert not broken(right(name), dtype, QUICK, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", RIGHT)
def test_there_are_no_false_alarms(name: str, seed: int) -> None:
    """The dtypes by turns."""
    dtypes = [dtype for case, dtype in CASES if case == name]
    assert not broken(right(name), dtypes[seed % len(dtypes)], EXAMPLES, seed)


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
    assert list(CLAUSES) == [f"D{i + 1}" for i in range(len(CLAUSES))]
