"""The specification as a text that is also data: numbers, names, sentences, evidence, catches."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import spec
from spec import CLAUSES, SECTIONS
from spec.certification.contracts import CONTRACTS
from spec.clause import Clause, Evidence
from tests.torch_mistakes import NAMES as TORCH_MISTAKES

TOOLS = ("backends", "certification", "loading.py", "randomness.py")  # they meet libraries
RAISES = ("Raise Violation", "Raise `Violation`")
EVERY = pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
ROOT = Path(spec.__file__).parent
MISTAKES = {about: dict[str, Any](contract.mistakes) for about, contract in CONTRACTS.items()}
MISTAKES["attention"] |= dict.fromkeys(TORCH_MISTAKES)


def test_every_clause_of_every_section_has_a_number_of_its_own() -> None:
    found = [x for section in SECTIONS for x in vars(section).values() if isinstance(x, Clause)]
    assert len({clause.number for clause in found}) == len(found) == len(CLAUSES)


def test_numbers_run_from_one_without_a_gap() -> None:
    for letter in {clause.section for clause in CLAUSES.values()}:
        numbers = [int(n[len(letter) :]) for n, c in CLAUSES.items() if c.section == letter]
        assert numbers == list(range(1, len(numbers) + 1))


@EVERY
def test_a_clause_says_what_it_claims(clause: Clause) -> None:
    assert re.fullmatch(r"[A-Z][1-9][0-9]*", clause.number)
    assert clause.sentence.endswith(".")
    assert clause.formula, "no formula"
    assert len(clause.sentence.split()) > 4
    assert all(len(line) <= 100 for line in clause.text.splitlines())


@EVERY
def test_a_clause_compares_and_never_asserts(clause: Clause) -> None:
    """`assert` is for the type checker; a claim is a comparison that says where it failed."""
    tree = ast.parse(inspect.getsource(clause.check))
    calls = {
        n.func.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    functions = (clause.check.__globals__.get(name) for name in calls)
    assert any((f.__doc__ or "").startswith(RAISES) for f in functions if f is not None)
    asserted = [ast.unparse(n.test) for n in ast.walk(tree) if isinstance(n, ast.Assert)]
    assert all(text.endswith("is not None") for text in asserted)


@EVERY
def test_a_clause_names_mistakes_that_exist(clause: Clause) -> None:
    assert clause.catches
    assert clause.catches <= {*MISTAKES[clause.about]}


@pytest.mark.parametrize("about", CONTRACTS)
def test_every_mistake_is_named_by_some_clause(about: str) -> None:
    named = {name for clause in spec.about(about).values() for name in clause.catches}
    wrong = {n for n, mistake in MISTAKES[about].items() if not getattr(mistake, "harmless", False)}
    assert wrong == named


@pytest.mark.parametrize("about", CONTRACTS)
def test_every_kind_of_subject_has_a_definition(about: str) -> None:
    """The clause that is always run has no needs that could leave it out."""
    clauses = spec.about(about)
    number = CONTRACTS[about].definition
    assert not clauses[number].needs
    assert clauses[number].force == "must"


def test_mistakes_are_many() -> None:
    assert sum(map(len, MISTAKES.values())) > 300


def test_every_proof_is_a_theorem_with_a_control() -> None:
    evidence = [clause.proof for clause in CLAUSES.values() if clause.proof is not None]
    assert len(evidence) > 30
    assert all(isinstance(e, Evidence) for e in evidence)


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(ROOT.rglob("*.py")) if not {*path.parts} & {*TOOLS}],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_mathematics_never_sees_torch(path: Path) -> None:
    """A reader needs NumPy and patience: no array library but NumPy is imported here."""
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }
    assert not imported & {"torch", "jax", "oracles", "implementations", "tests"}


def test_no_tolerance_is_a_literal() -> None:
    """A budget is derived: no clause passes a number other than zero as `within`."""
    for section in SECTIONS:
        for node in ast.walk(ast.parse(inspect.getsource(section))):
            if isinstance(node, ast.keyword) and node.arg == "within":
                assert not isinstance(node.value, ast.Constant) or node.value.value == 0
