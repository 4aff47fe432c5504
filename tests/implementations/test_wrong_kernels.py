"""Mistakes that are written in Triton are refused, by the clauses that are named with them."""

import json
import sys

import pytest

from tests.implementations.wrong_kernels import WRONG, written
from tests.shell import NO_CAUSES, run

triton = pytest.importorskip("triton")
pytestmark = pytest.mark.triton
TF32 = "computes_in_tf32"


@pytest.mark.parametrize("name", [name for name in WRONG if name != TF32])
def test_a_mistake_in_triton_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    target, number = written(name, tmp_path), WRONG[name].clause
    asked = "--clause", number, "--dtype", "float32", "--profile", "quick", "--fail-fast"
    beside = "--call-timeout", "120", *NO_CAUSES, "--json", str(tmp_path / "found.json")
    where = {"path": [str(tmp_path), *sys.path], "start": (sys.executable,), "timeout": 600}
    done = run("certify", target, *asked, *beside, **where)
    assert done.returncode == 1, done.stdout + done.stderr
    verdicts = json.loads((tmp_path / "found.json").read_text())["verdicts"]
    (outcome,) = (v["outcome"] for v in verdicts if v["clause"] == number)
    assert outcome == "violated"


def test_tf32_in_triton_is_told_by_its_name_and_right_if_it_is_declared(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    target = written(TF32, tmp_path)
    words = "--call-timeout", "120", *NO_CAUSES
    asked = "--dtype", "float32", "--profile", "quick", *words
    where = {"path": [str(tmp_path), *sys.path], "start": (sys.executable,), "timeout": 600}
    done = run("certify", target, "--clause", "A1", "--fail-fast", *asked, **where)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "--convention products=tf32" in done.stdout
    declaring = "--convention", "products=tf32", "--clause", "A1,A2"
    declared = run("certify", target, *declaring, *asked, **where)
    assert declared.returncode == 0, declared.stdout + declared.stderr
