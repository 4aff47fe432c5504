"""The specification as a text that is also data: numbers, names, sentences, evidence, catches."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import numpy as np
import pytest

import spec
from spec import CLAUSES, SECTIONS
from spec.attention.mistakes import scaling
from spec.attention.mistakes.making import wrong
from spec.clause import Clause, section_of
from spec.kinds import KINDS
from spec.mistake import Mistake, catalogue
from spec.version import RETIRED
from tests.targets.torch_mistakes import NAMES as TORCH_MISTAKES

TOOLS = ("backends", "certification", "loading.py")  # they meet libraries
RAISES = ("Raise Violation", "Raise `Violation`")
EVERY = pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
ROOT = Path(spec.__file__).parent
NUMBERS = (int, float)
CATALOGUES = {about: kind.mistakes for about, kind in KINDS.items()}


def test_every_clause_of_every_section_has_a_number_of_its_own() -> None:
    found = [x for section in SECTIONS for x in vars(section).values() if isinstance(x, Clause)]
    assert len({clause.number for clause in found}) == len(found) == len(CLAUSES)


def test_numbers_run_from_one_without_a_gap() -> None:
    for letter in {clause.section for clause in CLAUSES.values()}:
        used = [n for n in (*CLAUSES, *RETIRED) if section_of(n) == letter]
        assert {*used} == {f"{letter}{n}" for n in range(1, len(used) + 1)}


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
    of_torch = TORCH_MISTAKES if clause.about == "attention" else ()
    assert clause.catches <= {*CATALOGUES[clause.about], *of_torch}


@pytest.mark.parametrize("about", KINDS)
def test_every_kind_of_subject_has_a_definition(about: str) -> None:
    """The clause that is always run has no needs that could leave it out."""
    clauses = spec.about(about)
    number = KINDS[about].definition
    assert not clauses[number].needs
    assert clauses[number].force == "must"


def test_no_mistake_is_missing_from_its_catalogue() -> None:
    """Neither a module that nobody listed, nor one of two of the same name."""
    names = [x.name for x in walk_packages(spec.__path__, "spec.") if ".mistakes" in x.name]
    values = (value for name in names for value in vars(import_module(name)).values())
    records = (getattr(value, "mistake", None) for value in values)
    written = {id(x): x for x in records if isinstance(x, Mistake)}
    listed = {id(x) for mistakes in CATALOGUES.values() for x in mistakes.values()}
    assert [x.name for x in written.values() if id(x) not in listed] == []
    assert {*written} == listed


def test_two_mistakes_of_one_name_are_no_catalogue() -> None:
    """The later one would hide the other."""

    def scales_by_heads(*_: object) -> float:
        """Is another one."""
        return 1.0

    module = ModuleType("module")
    vars(module).update(vars(scaling))
    assert catalogue(scaling, module) == catalogue(scaling)
    vars(module).update(another=wrong("scale", incident="plausible")(scales_by_heads))
    with pytest.raises(ValueError, match="two mistakes are called scales_by_heads"):
        catalogue(module)


def tolerances(tree: ast.AST) -> Iterator[ast.AST]:
    """What clauses grant: a budget, and the bound of a number that is bounded."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("within", "bound"):
            yield node.value
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("at_most", "at_least"):
            yield from node.args[1:]


def unnamed(tree: ast.AST, most: int) -> list[float]:
    """Numbers as they are written out, but for powers of two and whole ones up to `most`."""
    powers = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    of_two = [n.right for n in powers if isinstance(n.left, ast.Constant) and n.left.value == 2]
    exponents = {id(n) for power in of_two for n in ast.walk(power)}
    constants = (n for n in ast.walk(tree) if isinstance(n, ast.Constant))
    numbers = [n.value for n in constants if id(n) not in exponents and type(n.value) in NUMBERS]
    whole = {x for x in numbers if x == round(x) and abs(x) <= most}
    return [x for x in numbers if x not in whole and abs(np.frexp(x)[0]) != 0.5]


def literals(tree: ast.AST) -> list[float]:
    """Numbers without a name that are, or may become, a tolerance."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    granted = (x for node in tolerances(tree) for x in unnamed(node, most=8))
    return [*granted, *(x for function in functions for x in unnamed(function, most=64))]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_no_tolerance_is_a_literal(section: ModuleType) -> None:
    """A budget is derived: a number that is neither small nor a power of two has a name."""
    assert literals(ast.parse(inspect.getsource(section))) == []


@pytest.mark.parametrize(
    "code",
    [
        "equal(got, want, within=1e-6)",
        "equal(got, want, within=budget + 1e-3)",
        "equal(got, want, within=30 * budget)",
        "at_most(got, 1 + 1e-6, within=budget)",
        "at_least(got, bound=0.999, within=0)",
        "def check(x):\n    within = 1.1 * x\n    equal(x, x, within=within)",
        "def check(x):\n    within = x / 1000\n    equal(x, x, within=within)",
    ],
)
def test_a_literal_tolerance_is_seen(code: str) -> None:
    assert literals(ast.parse(code))


def test_the_heading_of_a_section_is_one_line_that_ends() -> None:
    """The page of all clauses shows the first line of each module."""
    headings = {import_module(x.check.__module__).__doc__ or "" for x in CLAUSES.values()}
    first = [text.partition("\n")[0] for text in headings]
    assert [line for line in first if not line.endswith(".")] == []
