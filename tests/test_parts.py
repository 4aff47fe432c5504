"""The parts of the test suite are what they say, and leave nothing out."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import PARTS, is_outside, part_of

TESTS = Path(__file__).parent
FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def test_every_path_is_that_of_a_file() -> None:
    named = [path for paths in PARTS.values() for path in paths]
    assert not [path for path in named if not any(file.startswith(path) for file in FILES)]
    assert {part_of(file) for file in FILES} == {*PARTS}


def test_a_file_is_outside_of_all_parts_but_one() -> None:
    for file in FILES:
        assert [is_outside(TESTS / file, TESTS, part) for part in PARTS].count(False) == 1
    assert not is_outside(TESTS, TESTS, "book")
    assert not is_outside(TESTS.parent / "conftest.py", TESTS, "book")


@pytest.mark.parametrize(("part", "collected"), [("book", True), ("engine", False)])
def test_a_part_is_run_alone(part: str, collected: bool) -> None:
    words = ("-m", "pytest", "--collect-only", "-q", "--part", part, "tests/words")
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=TESTS.parent
    )
    assert ("tests/words/test_stream.py::" in done.stdout) is collected, done.stderr


@pytest.mark.slow
def test_a_test_with_quick_values_is_run_with_some() -> None:
    """A pattern that fits no value would leave out the whole test."""
    marked = [TESTS / x for x in FILES if "mark.quick(" in (TESTS / x).read_text()]
    trees = {x.relative_to(TESTS.parent): ast.parse(x.read_text()) for x in marked}
    wanted = {
        f"{file}::{node.name}"
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for marks in [[ast.unparse(x) for x in node.decorator_list]]
        if any("mark.quick(" in x for x in marks) and "pytest.mark.slow" not in marks
    }
    words = ("-m", "pytest", "--collect-only", "-q", *map(str, marked))
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=TESTS.parent
    )
    assert wanted <= {x.partition("[")[0] for x in done.stdout.splitlines()}


@pytest.mark.parametrize("mark", ["jax", "dask", "redis"])
def test_an_environment_for_a_library_names_the_files_that_need_it(mark: str) -> None:
    """Others are not collected, which takes longer than to run what needs it."""
    settings = (TESTS.parent / "tox.ini").read_text()
    texts = {x: (TESTS / x).read_text() for x in FILES}
    needing = [x for x, text in texts.items() if f"mark.{mark}" in text]
    needing = [x for x in needing if "\nimport torch\n" not in texts[x]]  # which is not there
    assert needing
    assert not [x for x in needing if f"tests/{x}" not in settings]
