"""Clauses as tests of pytest, whose target is in a runner: it can neither end nor forge them."""

from pathlib import Path

import pytest

from tests.shell import started

PLAIN = ("-p", "no:cacheprovider", "-p", "pytest_attention_spec")
FEW = ("--profile", "quick", "--dtype", "float32", "--clause", "A1,T3")
RIGHT = """
import os
import sys

import numpy as np

def attend(query, key, value):
    s = query @ np.swapaxes(key, -1, -2) * query.dtype.type(query.shape[-1] ** -0.5)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value

def wrong(query, key, value):
    return attend(query, key, value) * query.dtype.type(2)

def ends(query, key, value):
    if query.shape[-2] > 8:
        os._exit(0)
    return attend(query, key, value)

def dies(query, key, value):
    os.abort()

def hangs(query, key, value):
    while query.shape[-2] > 8:
        pass
    return attend(query, key, value)
"""
FORGES = """
import sys

for module in [x for name, x in sys.modules.items() if name.endswith("spec.comparison")]:
    module._judge = lambda *_, **__: None
"""
TESTS = """
from attention_spec import parametrize_with_clauses
from mine import attend

FEW = {"profile": "quick", "dtypes": "float32", "clauses": "A1"}

@parametrize_with_clauses("mine:ends", **FEW)
def test_that_ends(run):
    run()

@parametrize_with_clauses("mine:hangs", call_timeout=0.25, **FEW)
def test_that_hangs(run):
    run()

@parametrize_with_clauses("mine:attend", **FEW)
def test_that_goes_on(run):
    run()

@parametrize_with_clauses(attend, **FEW)
def test_that_is_here(run):
    run()
"""
NONE = "isolation of targets: none: the target shares the process of its judge"
APART = "isolation of targets: process"


def pytest_of(folder: Path, *words: str, code: int, more: str = "") -> str:
    (folder / "mine.py").write_text(RIGHT + more)
    done = started(*PLAIN, *words, program=("-m", "pytest"), cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_a_target_that_replaces_the_comparison_replaces_nothing_of_the_tests(
    tmp_path: Path,
) -> None:
    said = pytest_of(tmp_path, "--implementation", "mine.py:wrong", *FEW, code=1, more=FORGES)
    assert APART in said
    assert "wrong: 1 cause found" in said


def test_a_target_that_ends_or_hangs_fails_a_test_and_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    said = pytest_of(tmp_path, code=1)
    assert APART in said
    assert NONE in said
    assert "ends: no causes are known, as the target ended its process with exit code 0" in said
    assert "spec certify mine:ends" in said  # by the installed command, or by Python
    assert "hangs: no causes are known, as the target did not answer for 1 s" in said
    assert "2 failing clauses" in said
    assert "2 passed" in said


@pytest.mark.slow
def test_a_target_that_dies_as_it_is_probed_is_an_error_of_collection(tmp_path: Path) -> None:
    said = pytest_of(tmp_path, "--implementation", "mine.py:dies", *FEW, code=2)
    assert "the target had its process ended by SIGABRT while it was probed" in said


@pytest.mark.slow
def test_a_target_in_the_process_of_its_tests_says_so(tmp_path: Path) -> None:
    asked = ("--implementation", "mine.py:attend", "--isolation", "none", *FEW)
    assert NONE in pytest_of(tmp_path, *asked, code=0)
