"""Targets that crash or hang: each costs what it cannot answer, and everything is told."""

import json
import os
import re
import signal
import time

import pytest

from tests.night import deep
from tests.shell import FEW, NO_CAUSES, begun, certify, run
from tests.targets import LONG

CALLED = r", last called for the output of B=\d+ .* M=(\d+) .*?, float32"


@pytest.mark.quick("aborts")
@pytest.mark.parametrize("name", ["aborts", "hangs"])
def test_a_target_that_dies_or_hangs_at_once_gets_a_verdict(name):
    done = certify(name, "--call-timeout", "2", "--clause", "A1,A2", "--backend", "numpy")
    assert done.returncode == 3
    assert "crashed: A1" in done.stdout
    ended = {"aborts": "the process died of SIGABRT", "hangs": "no result after 2 s"}[name]
    assert f"{ended} while probing a plain problem, float32" in done.stdout


@pytest.mark.quick("aborts_backward*")
@pytest.mark.parametrize(
    ("name", "probe", "lost", "kept"),
    [
        deep("aborts_on_masks", "SIGABRT while probing a boolean mask", "M3", "C2"),
        deep("aborts_when_causal", "SIGABRT while probing causal", "C2", "M3"),
        ("aborts_backward", "SIGABRT while probing gradients", "A2", "M3"),
        ("hangs_on_masks", "no result after 2 s while probing a boolean mask", "M3", "V2"),
    ],
)
def test_a_crash_while_probing_costs_that_kind_of_problem_alone(name, probe, lost, kept, tmp_path):
    file = tmp_path / "c.json"
    clauses = f"V1,{lost},{kept}"
    words = ("--clause", clauses, "--call-timeout", "2", "--json", str(file))
    done = certify(name, *words, *NO_CAUSES)
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"{probe}, float32" in done.stdout
    found = json.loads(file.read_text())
    verdicts = {v["clause"]: v for v in found["verdicts"]}
    assert probe in verdicts[lost]["message"]
    outcomes = {number: v["outcome"] for number, v in verdicts.items()}
    assert (outcomes[lost], outcomes[kept], outcomes["A1"]) == ("crashed", "holds", "holds")
    assert outcomes["V1"] == "holds"
    assert found["ledger"]["blocked"] == 0
    assert all(r["crashed"] for r in found["refusals"])


def test_a_crash_while_probing_is_told_where_no_clause_needs_it():
    done = certify("aborts_on_masks", "--clause", "V2", *NO_CAUSES)
    assert done.returncode == 3
    assert "2 passed = 2" in done.stdout
    assert "crashed: a boolean mask [float32]" in done.stdout


@pytest.mark.slow
def test_a_crash_on_a_query_from_which_all_keys_are_hidden_is_told_as_that(tmp_path):
    """Such queries are no kind of problem that could be left out: what draws them crashes."""
    file = tmp_path / "c.json"
    words = ("--clause", "V2,M9", "--seed", "1")  # for which A1 draws such a query
    done = certify("aborts_when_idle", *words, *NO_CAUSES, "--json", str(file))
    assert done.returncode == 3, done.stdout + done.stderr
    for mask in ("a boolean mask", "an additive mask"):
        assert f"crashed: {mask} that hides all keys from a query [float32]" in done.stdout
        said = f"SIGABRT while probing {mask} that hides all keys from a query, float32"
        assert said in " ".join(done.stdout.split())
    outcomes = {v["clause"]: v["outcome"] for v in json.loads(file.read_text())["verdicts"]}
    assert outcomes == {"A1": "crashed", "V2": "holds", "M9": "crashed"}


@pytest.mark.deep
def test_a_crash_in_one_dtype_leaves_the_others(tmp_path):
    file = tmp_path / "c.json"
    words = ("--dtype", "float64,float32", "--clause", "V2", "--profile", "quick")
    done = run("certify", "tests.targets:aborts_in_float64", *words, "--json", str(file))
    assert done.returncode == 3
    assert "SIGABRT while probing a plain problem, float64" in done.stdout
    outcomes = {
        (v["clause"], v["dtype"]): v["outcome"] for v in json.loads(file.read_text())["verdicts"]
    }
    assert outcomes["V2", "float64"] == "crashed"
    assert outcomes["A1", "float32"] == outcomes["V2", "float32"] == "holds"


@pytest.mark.slow
def test_a_violation_is_told_beside_a_crash_while_probing():
    done = certify("breaks_and_aborts_backward", "--clause", "A", *NO_CAUSES)
    assert done.returncode == 1
    assert "\nfails: A1 " in done.stdout
    assert "crashed: A2, A3, A4, A12 [float32]" in done.stdout


@pytest.mark.deep
def test_a_violation_is_explained_and_repeated_beside_a_crash_while_probing(tmp_path):
    done = certify("breaks_and_aborts_backward", "--clause", "A", "--report", str(tmp_path))
    assert done.returncode == 1
    assert "the output is wrong\n   fails 6 clauses: A1-A4, A11-A12" in done.stdout
    assert "crashed: A2, A3, A4, A12 [float32]" in done.stdout
    assert run(program=(str(tmp_path / "cause-1.py"),)).returncode == 1


def test_a_target_that_exits_refuses_and_one_that_exits_at_once_is_told_in_a_line(tmp_path):
    done = certify("exits_on_masks", "--clause", "A1,V2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SystemExit: no masks here" in done.stdout
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n")
    done = run("certify", "ends.py:attend", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: ends.py cannot be imported: SystemExit: 0\n"


@pytest.mark.parametrize("words", [NO_CAUSES, deep(()), deep(("--isolate",))])
def test_a_crash_in_a_clause_is_that_clauses_verdict(words, tmp_path):
    file = tmp_path / "c.json"
    done = certify("crashes_when_long", "--clause", "A,V,P", "--json", str(file), *words)
    assert done.returncode == 3
    asked = f"the process died of SIGSEGV{CALLED}"
    found = json.loads(file.read_text())
    crashed = [v["message"] for v in found["verdicts"] if v["outcome"] == "crashed"]
    assert all(int(re.fullmatch(asked, message)[1]) > LONG for message in crashed)
    assert done.stdout.count("died of SIGSEGV") == 1  # the first says it for all
    told = f"1. the process dies of SIGSEGV with M > {LONG}\n" in done.stdout
    assert told == (words != NO_CAUSES)
    ledger = found["ledger"]
    if "--isolate" in words:
        assert ledger["blocked"] == 0
        assert ledger["crashed"] >= 3
    else:
        assert ledger["crashed"] == 3
        assert ledger["blocked"] > 0
        assert "--isolate goes on" in done.stdout


def test_a_hang_in_a_clause_is_that_clauses_verdict():
    done = certify("hangs_when_long", "--clause", "A1,V2", "--call-timeout", "2", *NO_CAUSES)
    assert done.returncode == 3
    assert "no result after 2 s, last called for the output of B=" in done.stdout


@pytest.mark.deep
def test_a_crash_names_the_options_and_the_function_that_was_called():
    done = certify("aborts_backward_when_causal_and_long", "--clause", "A2", "--seed", "2")
    assert done.returncode == 3
    said = " ".join(done.stdout.split())
    asked = r"died of SIGABRT, last called for gradients of B=\d+ H=\d+ [^,]*, causal, float32"
    assert re.search(asked, said), said


def test_a_budget_that_is_spent_is_exit_code_3():
    done = certify("hangs_when_long", "--clause", "A,V", "--budget", "2")
    assert done.returncode == 3
    assert "the budget of 2 s was spent" in done.stdout


@pytest.mark.slow
def test_who_ends_the_process_that_others_are_copies_of_ends_no_certificate(tmp_path, monkeypatch):
    monkeypatch.setenv("ENDED", str(tmp_path / "ended"))
    words = ("--clause", "A1,V2,V3", "--isolate", *NO_CAUSES, "--isolation", "fork")
    done = certify("ends_its_parent_and_crashes", *words)
    assert done.returncode == 3, done.stdout + done.stderr
    assert (tmp_path / "ended").exists()
    assert "crashed: A1" in done.stdout


@pytest.mark.slow
def test_who_is_interrupted_says_so_and_leaves_no_process_behind(tmp_path):
    called = tmp_path / "called"
    (tmp_path / "mine.py").write_text(
        "import pathlib, time\n"
        "def attend(query, key, value):\n"
        f"    pathlib.Path({str(called)!r}).touch()\n"
        "    time.sleep(60)\n"
    )
    words = ("mine.py:attend", *FEW, "--isolation", "fork")
    process = begun("certify", *words, cwd=tmp_path)
    while not called.exists():
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)
    assert (process.returncode, *said) == (3, "", "interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sentence", "code", "said"),
    [
        deep(
            "aborts_on_masks",
            "the process dies of SIGABRT with a boolean mask",
            -signal.SIGABRT,
            "attn_mask=attn_mask))  # the process dies of SIGABRT",
        ),
        (
            "aborts_when_causal",
            "the process dies of SIGABRT with causal",
            -signal.SIGABRT,
            "is_causal=True))  # the process dies of SIGABRT",
        ),
    ],
)
def test_a_crash_is_a_cause_with_its_smallest_problem(name, sentence, code, said, tmp_path):
    done = certify(name, "--clause", "A1,M1,C2,V2", "--report", str(tmp_path))
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"{name}: incomplete, for 1 cause\n" in done.stdout
    assert f"1. {sentence}\n" in done.stdout
    assert "correct on all other problems: all" in done.stdout
    script = tmp_path / "cause-1.py"
    assert said in script.read_text()
    assert "value = np.array([[[[0.0]]]], dtype=np.float32)" in script.read_text()
    assert run(program=(str(script),)).returncode == code


LOSES = """
import torch
from torch.nn.functional import scaled_dot_product_attention as right

def attend(query, key, value):
    if key.shape[2] > 6:
        raise RuntimeError("CUDA error: misaligned address\\nCompile with `TORCH_USE_CUDA_DSA`.")
    return right(query, key, value)
"""


@pytest.mark.slow
@pytest.mark.torch
def test_an_error_that_ends_a_device_is_no_refusal(tmp_path):
    """After it every call fails, whoever makes it: it is told of the problem that it came with."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("here a device answers, whatever a target says of it")
    (tmp_path / "loses.py").write_text(LOSES)
    done = run("certify", "loses.py:attend", *FEW, "--clause", "A1", *NO_CAUSES, cwd=tmp_path)
    said = " ".join(done.stdout.split())
    assert done.returncode == 3, done.stdout + done.stderr
    last = "; it printed last: DeviceLost: CUDA error: misaligned"
    found = re.search(f"exit code 1{CALLED}{last}", said)
    assert found, done.stdout
    assert int(found[1]) > LONG
