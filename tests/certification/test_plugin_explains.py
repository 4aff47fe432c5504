"""Clauses that fail as tests are explained once: their cause, and what would be correct."""

import re
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from tests.shell import started

KERNEL = """\
import numpy as np

def attend(query, key, value, is_causal=False):
    s = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
    N, M = s.shape[-2:]
    shown = np.tri(N, M, M - N, dtype=bool) if is_causal else np.ones((N, M), dtype=bool)
    s = np.where(shown, s, -np.inf)
    top = s.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ value
"""
TESTS = """\
from attention_spec import parametrize_with_clauses
from kernel import attend

@parametrize_with_clauses({target}, profile="quick", dtypes=["float64"], clauses="A,C")
def test_clause(run):
    run()

def test_of_another_kind():
    assert {right}
"""
PLAIN = ("-q", "-p", "no:cacheprovider", "-p", "pytest_attention_spec")
FEW = ("--profile", "quick", "--dtype", "float64", "--clause", "A,C")


def pytest_of(folder: Path, *words: str, kernel: str = KERNEL, code: int = 1) -> list[str]:
    """What pytest prints in a folder with a kernel that has another causal alignment."""
    (folder / "kernel.py").write_text(kernel)
    done = started(*PLAIN, *words, program=("-m", "pytest"), cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout.splitlines()


def explained(lines: list[str], flag: str) -> None:
    """One cause and the flag, on less than half a page."""
    text = "\n".join(lines)
    after = lines[next(i for i, line in enumerate(lines) if "why clauses fail" in line) :]
    assert len(after) <= 25, text
    assert text.count("attend: 1 cause found") == 1
    assert flag in text
    assert re.search(r"the output is wrong (in \d+ of \d+ problems )?with causal and N != M", text)
    assert "FAILED" not in text
    assert "failing clauses" in lines[-1]


@pytest.mark.slow
def test_the_decorator_explains_what_fails_in_python(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS.format(target="attend", right=True))
    lines = pytest_of(tmp_path, "--junitxml", "found.xml")
    explained(lines, 'conventions={"causal": "bottom-right"}')
    (suite,) = parse(tmp_path / "found.xml").getroot()
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert f" {len(failed)} failing clauses" in lines[-1]
    assert suite.get("failures") == str(len(failed))


def test_the_plugin_explains_what_fails_on_the_command_line(tmp_path: Path) -> None:
    lines = pytest_of(tmp_path, "--implementation", "kernel.py:attend", *FEW)
    explained(lines, "--convention causal=bottom-right")


@pytest.mark.slow
def test_other_failures_stay_what_they_are_and_details_are_there(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS.format(target="attend", right=False))
    text = "\n".join(pytest_of(tmp_path, "-vv", "-k", "A1 or another"))
    assert "FAILED test_it.py::test_of_another_kind" in text
    assert "FAILED test_it.py::test_clause[A1-" in text
    assert "A1 output_matches_definition, float64: " in text


@pytest.mark.slow
def test_a_target_in_the_file_of_its_own_tests_is_named_by_a_string(tmp_path: Path) -> None:
    tests = TESTS.format(target='"test_it.py:attend"', right=True)
    (tmp_path / "test_it.py").write_text(tests)
    explained(pytest_of(tmp_path), 'conventions={"causal": "bottom-right"}')


@pytest.mark.slow
def test_one_failing_clause_and_one_that_raises_are_counted_as_such(tmp_path: Path) -> None:
    refusing = KERNEL.replace("    return e", "    assert M > 0\n    return e")
    few = ("--profile", "quick", "--dtype", "float32", "--clause", "A1,T8", "-rs")
    lines = pytest_of(tmp_path, "--implementation", "kernel.py:attend", *few, kernel=refusing)
    assert any("skipped" in x.lower() and "raises an exception: " in x for x in lines)
    assert lines[-1].startswith("1 skipped, 1 failing clause in ")


@pytest.mark.quick("words0")
@pytest.mark.parametrize("words", [(), ("-v",)])
def test_what_passes_is_not_explained_but_what_was_not_tested_is(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL.replace("M - N, dtype", "0, dtype"))
    more = ("--implementation", "kernel.py:attend", *FEW, "-k", "C1 or A1", *words)
    done = started(*PLAIN, *more, program=("-m", "pytest"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "why clauses fail" not in done.stdout
    assert done.stdout.count("what was not tested") == 1
    (line,) = [x for x in done.stdout.splitlines() if x.startswith("attend: not tested: as ")]
    assert "fewer key heads than query heads; not supported, so not tested: gradients" in line
    assert ", a boolean mask (" in line
