"""Every theorem about the layer is zero, every control is not, and every one founds a clause."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from spec.clause import Clause, Evidence
from spec.layer import SECTIONS, moves, proofs
from spec.layer.problems import HIDING, IDLE, LIVE
from spec.layer.proofs.examples import SEEDS, example
from tests.test_proofs import GRADES, entries

CLAUSES = {c.number: c for s in SECTIONS for c in vars(s).values() if isinstance(c, Clause)}
EVERY = pytest.mark.parametrize("name", proofs.THEOREMS)

# No theorems: what a layer is, how it is called, what it remembers.
DEFINED = {"L1", "L4", "L6", "L22", "L33"}
OF_PROGRAMS = {"L5", "L37", "L39", "L40", "L41", "L42", "L43", "L44"}


@EVERY
def test_what_a_theorem_says_is_zero_is_zero(name: str) -> None:
    assert all(x == 0 for x in entries(proofs.THEOREMS[name].function()))


def number(entry: Any) -> Any:
    """An entry at 3 keys, at some numbers for its symbols, to many digits."""
    import sympy as sp

    entry = sp.sympify(entry).subs(sp.Symbol("M", integer=True, positive=True), 3).doit()
    named = entry.free_symbols | entry.atoms(sp.Indexed)
    chosen = {x: sp.Rational(1 + crc32(str(x).encode()) % 9, 7) for x in named}
    powers = {x: sp.N(x.xreplace(chosen), 40) for x in entry.atoms(sp.exp)}
    return sp.N(entry.xreplace(powers | chosen), 30)


def terms(entry: Any) -> int:
    """How long a formula is."""
    return len(getattr(entry, "args", ()))


@EVERY
def test_the_control_of_a_theorem_is_not_zero(name: str) -> None:
    """Neither as a formula nor as a number: unknowns that depend on each other fool nobody."""
    wrong = [x for x in entries(proofs.THEOREMS[name].control()) if x != 0]

    assert wrong
    assert abs(number(min(wrong, key=terms))) > 1e-20


@EVERY
def test_a_theorem_says_how_far_it_reaches(name: str) -> None:
    theorem = proofs.THEOREMS[name]

    assert theorem.grade in GRADES
    assert ("any" in theorem.sizes) or theorem.grade != "proved"
    assert any(character.isdigit() for character in theorem.sizes) or theorem.grade == "proved"


def test_the_table_of_theorems_is_whole() -> None:
    modules = (m for n, m in sys.modules.items() if n.startswith("spec.layer.proofs."))
    written = {n for m in modules for n, x in vars(m).items() if isinstance(x, Evidence)}

    assert set(proofs.THEOREMS) == written


def test_every_theorem_is_about_a_clause() -> None:
    used = {id(c.proof) for c in CLAUSES.values() if c.proof is not None}

    assert used == {id(theorem) for theorem in proofs.THEOREMS.values()}


def test_every_clause_that_is_a_theorem_has_a_proof() -> None:
    without = {number for number, clause in CLAUSES.items() if clause.proof is None}

    assert without == DEFINED | OF_PROGRAMS


def test_proofs_are_imported_without_sympy() -> None:
    script = "import sys, spec.layer.proofs; sys.exit('sympy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("kind", HIDING)
def test_examples_are_of_the_kind_that_they_are_asked_for(kind: str) -> None:
    for seed in SEEDS:
        problem = example(seed, (kind,))
        assert (problem.padding is not None) == ("padding" in kind)
        assert (problem.mask is not None) == ("mask" in kind or "bias" in kind)
        assert problem.causal == ("causal" in kind)
        assert kind in IDLE or not moves.idle(problem).any()


def test_examples_are_various() -> None:
    problems = [example(seed) for seed in SEEDS]

    assert {(p.B, p.H, p.D) for p in problems} >= {(2, 3, 4), (2, 3, 1)}
    assert max(p.N for p in problems) == 3
    assert max(p.M for p in problems) == 5
    assert len({p.key.shape[2] for p in problems}) == 3
    assert len(LIVE) < len(SEEDS)


@pytest.mark.parametrize("kind", IDLE)
def test_some_examples_are_idle_in_part(kind: str) -> None:
    idle = np.concatenate([moves.idle(example(seed, (kind,))).ravel() for seed in SEEDS])

    assert idle.any()
    assert not idle.all()


def test_exponentials_of_one_exponent_are_one_unknown() -> None:
    import sympy as sp

    from spec.layer.proofs.formulas import difference

    a, b, c = sp.symbols("a b c", real=True)
    one, two = sp.exp((a + b) * c), sp.exp(a * c + b * c)

    assert difference(np.array([one / (one + 1)]), np.array([two / (two + 1)]))[0] == 0
    assert difference(np.array([one]), np.array([sp.exp(a + b)]))[0] != 0
