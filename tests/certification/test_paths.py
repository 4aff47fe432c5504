"""A path that changes on the way is noticed, and inference is judged as inference runs."""

import json

import numpy as np
import pytest

from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.certification import certify
from spec.certification.judging.witness import Witness
from tests import shell
from tests.judging import unexplained
from tests.targets import switching, two_paths

HIDES = "tests.targets.switching:hides_its_fast_way"
CHANGED = "note          its result for a plain problem changed"


@pytest.fixture(autouse=True)
def nothing_has_failed_yet(monkeypatch):
    monkeypatch.setattr(switching, "_failed", [])


@pytest.mark.slow
def test_what_gradients_change_is_told_and_inference_is_judged_without_them(tmp_path):
    """As soon as gradients have been asked for, this function is right: so it is while probed."""
    file = tmp_path / "c.json"
    words = ("--clause", "A,V2", "--json", str(file))
    done = shell.run("certify", HIDES, *shell.FEW, *shell.NO_CAUSES, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{CHANGED} while it was probed [float32]" in done.stdout
    assert f"{CHANGED} while A2 was run [float32]" in done.stdout
    found = json.loads(file.read_text())
    outcomes = {v["clause"]: v["outcome"] for v in found["verdicts"]}
    assert (outcomes["A1"], outcomes["V2"]) == ("violated", "violated")
    assert outcomes["A2"] == outcomes["A3"] == outcomes["A4"] == "holds"
    assert len(found["notes"]) == 2


def test_a_path_that_changes_in_the_process_of_the_caller_is_told():
    options = {"dtypes": ("float32",), "profile": "quick", "clauses": ("A",)}
    changed = "its result for a plain problem changed while it was probed [float32]"
    assert certify(switching.falls_back, **options).notes == (changed,)
    assert certify(switching.stays, **options).notes == ()


def test_answers_that_never_come_twice_alike_tell_of_no_change():
    chance = np.random.default_rng(0)

    def random(query, key, value):  # noqa: ARG001
        return chance.random(query.shape).astype(query.dtype)

    witness = Witness.of(implementation(random, backend="numpy"))
    assert witness.changed("at all") == ()


@pytest.mark.parametrize(
    ("function", "broken"),
    [
        (two_paths.shifted_in_training, {"A10"}),
        (two_paths.shifted_in_inference, {"A1", "A11"}),
        (two_paths.by_hand, set()),
    ],
)
def test_the_output_is_judged_as_inference_runs_it_and_as_training_does(function, broken):
    options = {"dtypes": ("float32",), "profile": "quick", "clauses": ("A",)}
    certificate = unexplained(function, **options)
    assert {v.clause for v in certificate.failures} == broken
    assert certificate.ledger["holds"] == 7 - len(broken)


@pytest.mark.slow
def test_the_script_of_an_output_in_training_records_gradients(tmp_path):
    options = {"dtypes": ("float32",), "profile": "quick", "clauses": ("A10",), "fail_fast": True}
    (verdict,) = certify("tests.targets.two_paths:shifted_in_training", **options).failures
    script = verdict.counterexample.script
    assert "leaf.requires_grad_()" in script
    assert "spec" not in script.split('"""', 2)[2]
    (tmp_path / "repeat.py").write_text(script)
    assert shell.run(program=(str(tmp_path / "repeat.py"),)).returncode == 1


def test_what_a_compiler_gives_up_on_is_told():
    record = implementation(two_paths.compiled(), backend="torch", dtypes=("float32",))
    witness = Witness.of(record)
    assert witness.changed("at first") == ()
    for length in range(6, 15):
        record.forward(core("float32", N=length))
    said = "torch.compile gave up on a part after nine lengths: Dynamo recompile limit exceeded"
    assert witness.changed("after nine lengths") == (said,)
