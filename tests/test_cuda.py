"""The programs for a GPU where there is none, and what was recorded of one."""

import json
import sys
from pathlib import Path

import pytest

from spec.certification.ledger.judgements import FAULTS, unjudged
from spec.certification.ledgers import entries
from spec.certification.target import versions
from spec.runner import gpu
from tests.cuda import __main__ as judging
from tests.cuda import seeds
from tests.cuda.listed import LEDGER
from tests.shell import in_this_process, run

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
NOBODY = "not run: torch finds no CUDA device here\n"
ROOT = Path(__file__).parent.parent
ONE = """
device = "cpu"
profile = "quick"
backend = "numpy"
library = "numpy"

[targets.flash]
target = "implementations.dense:attend"
clauses = ["A1"]
dtypes = ["float32"]
"""


@pytest.fixture
def said(monkeypatch):
    """What a program ends with and prints, in this process, which has torch."""
    monkeypatch.chdir(ROOT)

    def found(*words, program=judging):
        monkeypatch.setattr(sys, "argv", [program.__name__, *words])
        done = in_this_process(program.main)
        return done.returncode, done.stdout, done.stderr

    return found


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_without_a_gpu_it_is_said_and_no_failure(said):
    done = run(program=("-m", "tests.cuda"), cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, NOBODY)
    assert said(program=seeds) == (0, NOBODY, "")


@pytest.mark.parametrize("words", [("--only", "nobody"), ("--ledger", "none.toml")])
def test_what_there_is_not_is_told_in_a_line(words, said):
    code, _, line = said(*words)
    assert code == 2
    assert line.startswith("error: ")
    assert line.count("\n") == 1


@pytest.mark.slow
def test_what_is_recorded_is_held_to(tmp_path, said):
    ledger = tmp_path / "one.toml"
    ledger.write_text(ONE)
    asked = "--ledger", str(ledger)
    code, *printed = said(*asked, "--record")
    assert code == 0, printed
    kept = tmp_path / "one" / "flash.json"
    code, printed, _ = said(*asked)
    assert code == 0
    assert "1 of 1 are as they are recorded" in printed
    written = json.loads(kept.read_text())
    written["outcomes"] = {"float32": {"violated": "A1"}}
    kept.write_text(json.dumps(written))
    code, printed, _ = said(*asked)
    assert code == 1
    assert "flash: not as it is recorded" in printed


def test_what_was_found_on_a_gpu_is_judged_and_listed(monkeypatch):
    monkeypatch.chdir(ROOT)
    listed = entries(str(LEDGER))
    kept = {path.stem for path in LEDGER.with_suffix("").glob("*.json")}
    assert kept <= {one.name for one in listed}
    for one in listed:
        if one.recorded is not None:
            assert not [*unjudged(one.recorded, one.judgements)], one.name
            assert one.recorded.versions["gpu"].startswith("NVIDIA H200, CUDA 13.0, driver ")
        assert all((LEDGER.parent / FAULTS / x.script).exists() for x in one.judgements if x.script)


MODULE = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"


@pytest.mark.parametrize(
    ("told", "driver"), [(MODULE, ", driver 580.159.04"), ("", ""), (None, "")]
)
def test_a_gpu_that_is_at_work_is_named(told, driver, monkeypatch, tmp_path):
    before, file = versions.versions_of(), tmp_path / "version"
    for name, answer in (("is_initialized", True), ("get_device_name", "NVIDIA H200")):
        monkeypatch.setattr(torch.cuda, name, lambda answer=answer: answer)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(gpu, "DRIVER", file)
    if told is not None:
        file.write_text(told)
    assert versions.versions_of() == {**before, "gpu": f"NVIDIA H200, CUDA 13.0{driver}"}
