"""Tests of clauses cannot pass where nothing was tested."""

from pathlib import Path

import pytest

from spec import parametrize_with_clauses
from tests.shell import run

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_attention_spec")
FEW = ("--profile", "quick", "--dtype", "float32")
ZEROS = """import numpy as np
from attention_spec import parametrize_with_clauses

def attend(query, key, value):
    return np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
"""
DECORATED = """
from wrong import attend
from attention_spec import parametrize_with_clauses

@parametrize_with_clauses(attend, profile="quick", dtypes=("float32",), {})
def test_clause(run): run()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wrong.py").write_text(ZEROS)
    return tmp_path


def judged(folder: Path, *options: str) -> tuple[int, str]:
    words = (*PYTEST, "--implementation", "wrong.py:attend", *FEW, *options)
    done = run(*words, cwd=folder, program=())
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("where", ["N > 100000", "N > 130 and M = 7"])
def test_a_session_without_problems_fails(where: str, folder: Path) -> None:
    code, said = judged(folder, "--where", where, "--clause", "A1,P3,S2")
    assert code == 1, said
    assert f"not tested: no problems where {where}, so nothing is known of the target" in said
    assert "2 skipped" in said


def test_a_decorated_test_without_problems_fails(folder: Path) -> None:
    few = "where='N > 100000', clauses=('A1', 'S2')"
    (folder / "test_mine.py").write_text(DECORATED.format(few))
    done = run(*PYTEST, "test_mine.py", cwd=folder, program=())
    assert done.returncode == 1, done.stdout
    assert "so nothing is known of the target" in done.stdout
    assert "1 skipped" in done.stdout


@pytest.mark.slow
def test_the_definition_fails_with_any_selection_of_clauses(folder: Path) -> None:
    code, said = judged(folder, "--clause", "T1")
    assert code == 1, said


def test_the_definition_is_tested_with_any_selection_of_clauses(folder: Path) -> None:
    (folder / "test_mine.py").write_text(DECORATED.format("clauses=('T1',)"))
    done = run(*PYTEST, "test_mine.py", "--collect-only", cwd=folder, program=())
    assert "A1-output_matches_definition-float32" in done.stdout


def test_one_target_is_tested_at_a_time(folder: Path) -> None:
    code, said = judged(folder, "--implementation=other.py:attend")
    assert code == 4
    assert "--implementation is given twice: test one target at a time" in said


def test_no_test_has_a_secret_seed(folder: Path) -> None:
    code, said = judged(folder, "--seed", "secret", "--isolation", "process")
    assert code != 0
    assert "--seed secret is for `certify` and `grade`" in said


def test_a_test_that_does_not_call_its_clause_fails(folder: Path) -> None:
    text = DECORATED.format("where='N = 1', clauses=('A1',)").replace(": run()", ": pass")
    (folder / "test_mine.py").write_text(text)
    done = run(*PYTEST, "test_mine.py", cwd=folder, program=())
    assert done.returncode == 1, done.stdout
    assert "the clause was not tested: call run() in the test" in done.stdout


def test_files_beside_an_implementation_are_refused(folder: Path) -> None:
    code, said = judged(folder, "wrong.py")
    assert code == 4
    told = (
        "--implementation collects the clauses of wrong.py:attend alone: run pytest again without"
    )
    assert f"ERROR: {told} it for wrong.py" in said


def test_an_option_that_a_decorator_does_not_have_is_told() -> None:
    with pytest.raises(TypeError, match=r"no option is called 'dtype'; did you mean 'dtypes'\?"):
        parametrize_with_clauses("wrong.py:attend", dtype="float32")
