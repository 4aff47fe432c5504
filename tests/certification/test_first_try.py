"""A natural first try is told its two causes on a page, each with a script that shows it."""

import json
import re
import subprocess
import sys

import pytest

from spec.certification.ledger.reading import loaded
from tests.shell import run

FIRST_TRY = """\
import numpy as np

def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    d = query.shape[-1]
    s = query @ np.swapaxes(key, -1, -2) * (1 / np.sqrt(d) if scale is None else scale)
    if is_causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    if attn_mask is not None:
        s = np.where(attn_mask, s, -np.inf) if attn_mask.dtype == bool else s + attn_mask
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value
"""


@pytest.fixture(scope="module")
def first_try(tmp_path_factory):
    """What is printed about a natural first try, and the folder with all that is kept."""
    folder = tmp_path_factory.mktemp("first_try")
    (folder / "mine.py").write_text(FIRST_TRY)
    words = ("certify", "mine.py:attend", "--profile", "quick", "--report", "report")
    return run(*words, cwd=folder), folder


@pytest.mark.slow
def test_a_natural_first_try_has_two_causes_on_a_page(first_try):
    done, folder = first_try
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) <= 75  # a page
    assert done.stdout.startswith("attend: not certified, for 2 causes\n")
    assert "the output has the wrong dtype (got float64, want float32) with no scale" in done.stdout
    assert "correct if the output is cast to the dtype of the queries" in done.stdout
    assert re.search(r"the output is NaN (in \d+ of \d+ problems )?with a fully", done.stdout)
    assert "correct under the convention fully-masked=nan" in done.stdout
    written = json.loads((folder / "report" / "certificate.json").read_text())
    assert written["causes"][0]["features"] == ["a fully masked query"]
    assert written["region"]["passed"] is True
    assert (folder / "report" / "certificate.json").stat().st_size < 300_000


@pytest.mark.slow
def test_every_script_of_a_cause_shows_it(first_try):
    _, folder = first_try
    for place, said in ((1, "nan"), (2, "float64")):
        script = folder / "report" / f"cause-{place}.py"
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stderr
        assert said in done.stdout


def test_a_script_finds_a_module_from_any_directory(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "mine.py").write_text(FIRST_TRY)
    words = ("package.mine:attend", "--profile", "quick", "--clause", "A1", "--report", "report")
    words += ("--dtype", "float64")
    run("certify", *words, cwd=tmp_path)
    words = (sys.executable, str(tmp_path / "report" / "cause-1.py"))
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    assert (done.returncode, "nan" in done.stdout) == (1, True), done.stderr


@pytest.mark.slow
def test_the_verdicts_of_a_cause_show_its_counterexample(first_try):
    _, folder = first_try
    certificate = loaded(folder / "report" / "certificate.json")
    for verdict in certificate.verdicts:
        if verdict.causes:
            cause = certificate.causes[verdict.causes[0]]
            assert verdict.counterexample == cause.counterexample
            assert verdict.clause in cause.clauses
