"""Every theorem is zero, and every control is not."""

import subprocess
import sys
from fractions import Fraction
from zlib import crc32

import numpy as np
import pytest

from spec import proofs
from spec.clause import Evidence
from spec.proofs.algebra import (
    derivative,
    growing,
    key,
    linear,
    numbers,
    numerator,
    over_keys,
    per_key,
)

GRADES = {"proved", "proved at sizes", "checked exactly"}


def entries(result) -> list:
    """What a theorem returned, as a list of numbers or formulas."""
    flat = np.ravel(np.asarray(result, dtype=object)).tolist()
    assert flat, "a theorem about nothing"
    return flat


@pytest.mark.parametrize("name", proofs.THEOREMS)
def test_what_a_theorem_says_is_zero_is_zero(name: str) -> None:
    assert all(x == 0 for x in entries(proofs.THEOREMS[name].function()))


@pytest.mark.parametrize("name", proofs.THEOREMS)
def test_the_control_of_a_theorem_is_not_zero(name: str) -> None:
    assert any(x != 0 for x in entries(proofs.THEOREMS[name].control()))


@pytest.mark.parametrize("name", proofs.THEOREMS)
def test_a_theorem_says_how_far_it_reaches(name: str) -> None:
    theorem = proofs.THEOREMS[name]

    assert theorem.grade in GRADES
    assert theorem.sizes
    if theorem.grade == "proved":
        assert "any" in theorem.sizes
    else:
        assert any(character.isdigit() for character in theorem.sizes)


def test_the_table_of_theorems_is_whole() -> None:
    modules = (m for n, m in sys.modules.items() if n.startswith("spec.proofs."))
    written = {n for m in modules for n, x in vars(m).items() if isinstance(x, Evidence)}

    assert set(proofs.THEOREMS) == written


def test_proofs_are_imported_without_sympy() -> None:
    script = "import sys, spec.proofs; sys.exit('sympy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def instance(formula, M: int):
    """A formula at M keys, with numbers for its symbols: what symbolic sums stand for."""
    import sympy as sp

    formula = formula.subs(sp.Symbol("M", integer=True, positive=True), M).doit()
    named = formula.free_symbols | formula.atoms(sp.Indexed)
    return formula.xreplace({x: sp.Rational(1 + crc32(str(x).encode()) % 9, 7) for x in named})


@pytest.mark.parametrize("M", [1, 2, 5])
def test_splitting_sums_does_not_change_them(M: int) -> None:
    import sympy as sp

    (s, g), (c, t) = per_key("s g"), numbers("c t")
    total = over_keys(sp.exp(s + c) * (g + t) ** 2 / over_keys(sp.exp(s) * g))

    assert linear(total) != total
    assert abs(sp.N(instance(total, M) - instance(linear(total), M), 40)) < Fraction(1, 10**30)


@pytest.mark.parametrize("M", [1, 2, 5])
def test_a_sum_that_is_not_zero_has_a_numerator(M: int) -> None:
    import sympy as sp

    (s, g), (t,) = per_key("s g"), numbers("t")
    moved = derivative(over_keys(sp.exp(s + t * growing(key())) * g), t)

    assert numerator(moved) != 0
    assert abs(sp.N(instance(numerator(moved), M), 40)) > Fraction(1, 10**30)


def test_a_numerator_is_not_fooled_by_cancellation() -> None:
    import sympy as sp

    x, y = numbers("x y")
    hidden = 1 / (sp.exp(x) - sp.exp(y)) - 1 / (sp.exp(x) + sp.exp(y))

    assert numerator(hidden - 2 * sp.exp(y) / (sp.exp(x) ** 2 - sp.exp(y) ** 2)) == 0
    assert numerator(hidden - sp.exp(y) / (sp.exp(x) ** 2 - sp.exp(y) ** 2)) != 0
