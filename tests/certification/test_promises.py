"""Promises of equal bits: tried and reported, and required where they are declared."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spec import CLAUSES, certify
from spec.certification.command_line import main
from spec.certification.isolation.station import required
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.promised import same_bits
from spec.certification.ledger.reading import loaded
from spec.certification.settings import Request
from spec.kinds import KINDS
from spec.promises import PROMISES
from tests.judging import unexplained

BREAKING = {
    "adds_in_another_order_every_call": ("run", "T3"),
    "measures_in_another_order_every_call": ("run", "T15"),
    "adds_gradients_in_another_order_every_call": ("run", "T14"),
    "splits_keys_by_batch_size": ("batch", "P11"),
    "splits_gradients_by_batch_size": ("batch", "P13"),
    "chooses_tiles_by_length": ("length", "M31"),
    "has_another_program_for_a_single_query": ("chunk", "C46"),
    "splits_keys_of_the_first_head": ("order", "H10"),
    "adds_pages_by_their_numbers": ("pages", "P14"),
    "adds_a_shared_prefix_apart": ("prefix", "C58"),
    "answers_otherwise_every_third_time": ("run", "L43"),
}
BREAKERS = {
    name: (kind, mistake.target)
    for kind in KINDS.values()
    for name, mistake in kind.mistakes.items()
    if mistake.force == "promise"
}
DENSE = "implementations.dense:attend"


def judged(name: str, clauses: str, **options: object) -> Certificate:
    few = {"profile": "standard", "dtypes": ("float32",), "clauses": clauses}
    kind, target = BREAKERS[name]
    return unexplained(target, kind=kind.about, **few, **options)


def test_every_promise_has_clauses_and_every_breaker_one() -> None:
    assert {x.promise for x in CLAUSES.values()} == {"", *PROMISES}
    for x in CLAUSES.values():
        assert (x.force == "promise") == bool(x.promise)
    assert {*BREAKERS} == {*BREAKING}
    assert {promise for promise, _ in BREAKING.values()} == {*PROMISES}


@pytest.mark.quick("adds_in*", "splits_keys_by*")
@pytest.mark.parametrize("name", BREAKING)
def test_a_right_function_is_refused_only_for_what_it_promised(name: str) -> None:
    promise, clause = BREAKING[name]
    clauses = f"{BREAKERS[name][0].definition},{clause}"
    free = judged(name, clauses)
    held = judged(name, clauses, promises=(promise,))
    assert free.passed
    assert not held.passed
    assert [v.clause for v in held.failures] == [clause]
    assert free.failures == ()
    told, strict = free.promises[promise], held.promises[promise]
    assert (told.declared, told.kept, strict.declared, strict.kept) == (False, False, True, False)
    assert "float32" in told.smallest
    assert f"not: {promise} (smallest: B=" in same_bits(free)
    assert f"not: {promise} (promised)" in same_bits(held)


def test_a_promise_that_is_kept_is_required_and_reported() -> None:
    free = certify(DENSE, profile="quick", clauses="T3,P4", dtypes="float32", isolation="none")
    held = certify(
        DENSE,
        profile="quick",
        clauses="T3,P4",
        dtypes="float32",
        isolation="none",
        promises="run,batch",
    )
    assert free.passed
    assert held.passed
    assert same_bits(free) == "run, batch (4 problems)"
    assert same_bits(held) == "run (promised), batch (promised) (8 problems)"
    assert "\nsame bits     run, batch (4 problems)\n" in str(free)
    assert {v.force for v in held.verdicts} == {"must"}
    assert "--promise run,batch" in held.command


def test_others_are_named_alone_where_two_equal_calls_differ() -> None:
    found = judged("adds_in_another_order_every_call", "A1,T3,M31,C46")
    assert same_bits(found).endswith("float32), length, chunk")
    assert same_bits(found).startswith("not: run (smallest: ")


def test_a_certificate_keeps_them(tmp_path: Path) -> None:
    found = judged("splits_keys_by_batch_size", "A1,P11")
    found.save(tmp_path / "a.json")
    written = json.loads((tmp_path / "a.json").read_text())["promises"]["batch"]
    assert (written["declared"], written["kept"], written["dtypes"]) == (False, False, ["float32"])
    assert loaded(tmp_path / "a.json").promises == found.promises
    text = str(found)
    assert "1 not promised" in text
    assert " 1 differ in bits (not promised)" in text
    assert "fails" not in text


def test_an_unknown_promise_is_an_error_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", DENSE, "--promise", "runs"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "promise 'runs'" in told
    assert "run" in told.partition("'runs'")[2]


def test_clauses_of_a_request_are_the_same_objects() -> None:
    request = Request(promises=("run",))
    first, second = required(request), required(request)
    assert first["T3"] is second["T3"]
    assert (first["T3"].force, first["P4"].force) == ("must", "promise")
    assert required(Request())["T3"] is CLAUSES["T3"]
    assert Request.from_json(json.loads(json.dumps(request.to_json()))) == request


@pytest.mark.slow
@pytest.mark.parametrize("promise", ["run", "batch"])
def test_another_process_is_given_the_promises(promise: str) -> None:
    name = next(x for x, (word, _) in BREAKING.items() if word == promise)
    words = (f"spec.attention.mistakes.summing:{name}", "--clause", f"A1,{BREAKING[name][1]}")
    more = ("--promise", promise, "--dtype", "float32", "--diagnosis-timeout", "0.1")
    ran = subprocess.run(
        [sys.executable, "-m", "spec", "certify", *words, *more],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1, ran.stderr
    assert f"not: {promise} (promised)" in " ".join(ran.stdout.split())


def test_pyproject_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spec.certification.repository import requests

    (tmp_path / "pyproject.toml").write_text(
        f'[tool.attention-spec.targets.a]\ntarget = "{DENSE}"\npromises = ["run"]\n'
    )
    monkeypatch.chdir(tmp_path)
    assert requests("a", {})["a"].promises == ("run",)


def test_a_promise_is_kept_only_if_every_clause_and_format_keeps_it() -> None:
    found = judged("measures_in_another_order_every_call", "A1,T3,T15")
    assert [v.outcome for v in found.verdicts if v.promise] == ["holds", "violated"]
    assert not found.promises["run"].kept


def wider(query, key, value):
    """Attention whose results are float64, and the same at each call."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def test_a_wrong_dtype_is_no_difference_in_bits() -> None:
    found = certify(wider, profile="quick", dtypes=("float32",), clauses="A1,T3,P11,M6,C45")
    assert {v.outcome for v in found.verdicts if v.ran} == {"violated"}
    assert not found.promises
