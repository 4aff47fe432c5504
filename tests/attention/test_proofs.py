"""Every theorem is zero, every control is not, and every one founds a clause."""

import ast
import re
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import spec
from spec import CLAUSES
from spec.clause import Evidence
from spec.proving.algebra import derivative, key, linear, numbers, numerator, over_keys, per_key

GRADES = {"proved", "proved at sizes", "checked exactly"}
NAMES = [x.name for x in walk_packages(spec.__path__, "spec.") if ".proofs" in x.name]


def written() -> dict[str, Evidence]:
    """The theorems in all modules of proofs, each by the first place where it stands."""
    found: dict[int, tuple[str, Evidence]] = {}
    for name in NAMES:
        for word, x in vars(import_module(name)).items():
            if isinstance(x, Evidence):
                found.setdefault(id(x), (f"{name}.{word}", x))
    return dict(found.values())


THEOREMS = written()
LEMMAS = {"spec.dropout.proofs.the_variance_of_a_square_is_known"}  # of the bound in `chance`
EVERY = pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)


def entries(result: Any) -> list[Any]:
    """What a theorem returned, as a list of numbers or formulas."""
    flat = np.ravel(np.asarray(result, dtype=object)).tolist()
    assert flat, "a theorem about nothing"
    return flat


@EVERY
def test_what_a_theorem_says_is_zero_is_zero(theorem: Evidence) -> None:
    assert all(x == 0 for x in entries(theorem.function()))


def number(entry: Any) -> Any:
    """An entry at 3 keys, at some numbers for its symbols, to many digits."""
    import sympy as sp

    entry = sp.sympify(entry)
    counts = [x for x in entry.free_symbols if x.is_integer]
    entry = instance(entry.subs(dict.fromkeys(counts, 3)), 3)
    return sp.N(entry.xreplace({x: sp.N(x, 40) for x in entry.atoms(sp.exp)}), 30)


def terms(entry: Any) -> int:
    """How long a formula is."""
    return len(getattr(entry, "args", ()))


@pytest.mark.slow
@EVERY
def test_the_control_of_a_theorem_is_not_zero(theorem: Evidence) -> None:
    """Neither as a formula nor as a number: unknowns that depend on each other fool nobody."""
    wrong = [x for x in entries(theorem.control()) if x != 0]

    assert wrong
    assert abs(number(min(wrong, key=terms))) > 1e-20


@EVERY
def test_a_theorem_says_how_far_it_reaches(theorem: Evidence) -> None:
    assert theorem.grade in GRADES
    assert ("any" in theorem.sizes) or theorem.grade != "proved"
    assert any(character.isdigit() for character in theorem.sizes) or theorem.grade == "proved"


def test_every_theorem_is_about_a_clause() -> None:
    used = {id(clause.proof) for clause in CLAUSES.values() if clause.proof is not None}

    assert used <= {id(theorem) for theorem in THEOREMS.values()}
    assert {n for n, theorem in THEOREMS.items() if id(theorem) not in used} == LEMMAS


@pytest.mark.parametrize("about", ["attention", "layer"])
def test_the_table_of_proofs_is_whole(about: str) -> None:
    """A package of proofs is a docstring that lists its modules, and hands nothing on."""
    package = Path(spec.__file__).parent / about / "proofs"
    (text,) = ast.parse((package / "__init__.py").read_text()).body
    assert isinstance(text, ast.Expr)
    table = re.findall(r"^    (\w+)  ", ast.literal_eval(text.value), re.M)
    assert sorted(table) == sorted(x.stem for x in package.glob("[!_]*.py"))


def test_proofs_are_imported_without_sympy() -> None:
    script = f"import sys, {', '.join(NAMES)}; sys.exit('sympy' in sys.modules)"
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
    moved = derivative(over_keys(sp.exp(s + t * key()) * g), t)

    assert numerator(moved) != 0
    assert abs(sp.N(instance(numerator(moved), M), 40)) > Fraction(1, 10**30)


def test_a_numerator_is_not_fooled_by_cancellation() -> None:
    import sympy as sp

    x, y = numbers("x y")
    hidden = 1 / (sp.exp(x) - sp.exp(y)) - 1 / (sp.exp(x) + sp.exp(y))

    assert numerator(hidden - 2 * sp.exp(y) / (sp.exp(x) ** 2 - sp.exp(y) ** 2)) == 0
    assert numerator(hidden - sp.exp(y) / (sp.exp(x) ** 2 - sp.exp(y) ** 2)) != 0
