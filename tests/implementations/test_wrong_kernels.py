"""Mistakes that are written in Triton are refused, by the clauses that are named with them."""

import json
import os
import subprocess
import sys

import pytest

from tests.implementations.wrong_kernels import WRONG, written

triton = pytest.importorskip("triton")
pytestmark = pytest.mark.triton


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_triton_is_refused(name, tmp_path):
    target, number = written(name, tmp_path), WRONG[name].clause
    asked = "--clause", number, "--dtype", "float32", "--profile", "quick"
    beside = "--patience", "120", "--search", "1", "--json", str(tmp_path / "found.json")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "spec", "certify", target, *asked, *beside],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    verdicts = json.loads((tmp_path / "found.json").read_text())["verdicts"]
    (outcome,) = (v["outcome"] for v in verdicts if v["clause"] == number)
    assert outcome == "violated"
