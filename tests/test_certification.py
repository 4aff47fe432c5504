"""Certification from Python: what is found, what is said, and what is left as it was."""

import json
import random
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

from spec import about
from spec.backends import Unsuitable, implementation
from spec.certification import assert_attention, certify, parametrize_with_clauses
from spec.certification.certificate import loaded
from spec.certification.contracts.attention_moves import MOVES
from spec.certification.doors import runs
from spec.certification.posing import problem_from_json, problem_to_json
from spec.certification.probes import core, lattice
from spec.certification.probing import probed
from spec.certification.reduction import smallest
from spec.certification.report import save_report
from spec.implementation import Capability
from tests import targets

CLAUSES = about("attention")
QUICK = {"profile": "quick", "dtypes": ("float32",)}


@pytest.fixture(scope="module")
def refuted():
    return certify("tests.targets:elementwise", profile="quick", dtypes="float32", clauses="A,K")


def verdicts_of(certificate, clause):
    return [v for v in certificate.verdicts if v.clause == clause]


def test_a_right_implementation_is_certified():
    certificate = certify("tests.targets:right", **QUICK)
    assert certificate.passed, str(certificate)
    assert certificate.exit_code == 0
    assert sum(certificate.ledger.values()) == len(certificate.verdicts) == len(CLAUSES)
    assert 0 < certificate.worst <= 1
    assert certificate.coverage["float32"]["rows"] > 0
    assert "certified" in str(certificate)


def test_the_same_request_gives_the_same_verdicts():
    again = [
        [(v.outcome, v.examples, v.worst) for v in certify(targets.plain, **QUICK).verdicts]
        for _ in range(2)
    ]
    assert again[0] == again[1]


def test_a_published_gradient_is_refuted_by_the_smallest_problem(refuted):
    assert not refuted.passed
    assert refuted.exit_code == 1
    (verdict,) = verdicts_of(refuted, "A2")
    assert verdict.outcome == "violated"
    p = verdict.counterexample.problem
    assert (p.B, p.H, p.G) == (1, 1, 1)
    assert max(p.N, p.M, p.D, p.E) <= 2
    assert verdict.counterexample.reduced
    assert any("S0" in line for line in verdict.counterexample.looks_like)


def test_the_right_part_of_a_wrong_gradient_is_not_blamed(refuted):
    (verdict,) = verdicts_of(refuted, "A4")
    assert verdict.outcome == "holds"


def test_a_failure_is_printed_whole(refuted):
    text = str(refuted)
    (verdict,) = verdicts_of(refuted, "A2")
    place = verdict.counterexample.place
    for words in (CLAUSES["A2"].sentence, f"{place.want:.9g}", "dout =", "looks like", "repeat"):
        assert words in text


@pytest.mark.parametrize("number", ["A2", "K2"])
def test_the_script_of_a_failure_runs_on_its_own(refuted, number, tmp_path):
    (verdict,) = verdicts_of(refuted, number)
    script = verdict.counterexample.script
    code = script.split('"""', 2)[2]
    assert len(code.strip().splitlines()) <= 14
    assert "spec" not in code
    path = tmp_path / "repeat.py"
    path.write_text(script)
    done = run_script(path)
    assert done.returncode == 1, done.stderr
    assert "got" in done.stdout


def test_the_script_is_satisfied_once_the_failure_is_gone(refuted, tmp_path):
    (verdict,) = verdicts_of(refuted, "A2")
    path = tmp_path / "repeat.py"
    path.write_text(verdict.counterexample.script.replace("elementwise", "repaired"))
    assert run_script(path).returncode == 0


def run_script(path):
    return subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(x for x in sys.path if x), "OMP_NUM_THREADS": "1"},
    )


def test_a_certificate_survives_being_saved(refuted, tmp_path):
    refuted.save(tmp_path / "a.json")
    json.loads((tmp_path / "a.json").read_text(), parse_constant=pytest.fail)
    back = loaded(tmp_path / "a.json")
    assert str(back) == str(refuted)
    assert back.ledger == refuted.ledger


def test_a_report_has_a_script_for_each_violation(refuted, tmp_path):
    save_report(refuted, tmp_path)
    scripts = {path.name for path in tmp_path.glob("*.py")}
    assert scripts == {f"{v.clause}-{v.dtype}.py" for v in refuted.failures}
    assert (tmp_path / "certificate.txt").read_text() == str(refuted)


def test_problems_survive_json():
    problem = core("float16").but(mask=np.array([[0.5, -np.inf, np.nan, 0, 1]]), memory="offset")
    back = problem_from_json(type(problem), json.loads(json.dumps(problem_to_json(problem))))
    assert np.array_equal(back.mask, problem.mask, equal_nan=True)
    assert back.memory == "offset"
    assert (back.q == problem.q).all()


@pytest.mark.parametrize(
    ("target", "name", "choice", "clauses"),
    [
        (targets.bottom_right, "causal", "bottom-right", "A,C"),
        (targets.forbids, "mask means", "forbid", "A,M"),
        (targets.interleaved, "grouping", "interleaved", "A,H"),
        (targets.nan_when_idle, "idle", "nan", "A,M"),
        (targets.uniform_when_idle, "idle", "uniform", "A,M"),
    ],
)
def test_a_convention_is_refused_undeclared_and_certified_declared(target, name, choice, clauses):
    undeclared = certify(target, **QUICK, clauses=clauses)
    assert undeclared.exit_code == 1
    assert any(f"{name}={choice}" in line for line in undeclared.advice)
    assert "if it is meant" in str(undeclared)
    declared = certify(target, **QUICK, clauses=clauses, conventions={name: choice})
    assert declared.passed, str(declared)
    assert declared.conventions[name] == choice


def test_a_convention_that_is_declared_and_not_kept_is_refused():
    assert certify(targets.right, **QUICK, clauses="M", conventions={"idle": "nan"}).exit_code == 1


def test_what_is_refused_is_listed_and_left_out():
    certificate = certify(targets.refuses_widths, **QUICK, clauses="A,V")
    assert certificate.passed, str(certificate)
    assert any(r.what == Capability.WIDTHS.value for r in certificate.refusals)
    assert "ValueError: widths differ" in str(certificate)


def test_gradients_may_be_refused_where_answers_are_not():
    def backward(dout, query, key, value):  # noqa: ARG001
        if query.shape[1] != key.shape[1]:
            raise NotImplementedError("no groups")
        return query, key, value

    record = implementation(targets.right, backward=backward)
    left = probed(record).by_dtype["float32"]
    assert Capability.GROUPS in left.answers
    assert Capability.GROUPS not in left.differentiates


def test_float64_in_float32_is_told_in_words():
    certificate = certify(targets.in_float32, profile="quick", clauses="A1")
    outcomes = {v.dtype: v for v in certificate.verdicts}
    assert outcomes["float64"].outcome == "violated"
    assert "computes float64 in float32" in outcomes["float64"].message
    assert outcomes["float32"].outcome == "holds"


def test_a_deviation_is_strict():
    known = implementation(targets.elementwise, deviations={"A2": "published so", "A4": "none"})
    few = certify(known, **QUICK, clauses="A1,A2,A4")
    assert {v.clause: v.outcome for v in few.verdicts}["A4"] == "holds"
    certificate = certify(known, **{**QUICK, "profile": "standard"}, clauses="A1,A2,A4")
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert outcomes == {"A1": "holds", "A2": "deviates", "A4": "violated"}
    assert "no longer deviates" in str(certificate)


def test_fail_fast_blocks_the_rest():
    certificate = certify(targets.elementwise, **QUICK, clauses="A", fail_fast=True)
    assert certificate.ledger["violated"] == 1
    assert certificate.ledger["blocked"] >= 1
    assert certificate.exit_code == 1


def test_a_selection_is_certified_as_the_definition_is_run_as_well():
    certificate = certify(targets.plain, **QUICK, clauses="V2")
    assert [v.clause for v in certificate.verdicts] == ["A1", "V2"]
    assert certificate.passed
    assert "--clause A1,V2" in certificate.command


@pytest.mark.parametrize("named", ["A", "A1", "the_output_is_that_of_the_definition"])
def test_the_definition_is_not_added_where_it_was_selected(named):
    certificate = certify(targets.plain, **QUICK, clauses=named)
    assert f"--clause {named} " in certificate.command
    assert certificate.verdicts[0].clause == "A1"


def test_without_the_definition_clause_nothing_is_certified():
    whole = certify(targets.plain, **QUICK, clauses="V2")
    certificate = replace(whole, verdicts=whole.verdicts[1:])
    assert certificate.ledger["holds"] == 1
    assert not certificate.passed
    assert certificate.exit_code == 3


def test_a_budget_that_is_spent_leaves_the_rest_blocked():
    certificate = certify(targets.plain, **QUICK, budget=0.0)
    assert certificate.ledger["holds"] == 0
    assert certificate.exit_code == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clauses": "Z9"}, "unknown clause 'Z9'"),
        ({"dtypes": "float8"}, "unknown dtype 'float8'"),
        ({"dtypes": "bfloat16"}, "the NumPy backend has no bfloat16"),
        ({"conventions": {"idle": "seven"}}, "unknown choice for the convention idle"),
        ({"conventions": {"colour": "red"}}, "unknown convention 'colour'"),
        ({"profile": "endless"}, "unknown profile"),
        ({"jobs": 0}, "--jobs 0"),
    ],
)
def test_options_that_there_are_not(options, words):
    with pytest.raises(Unsuitable, match=words):
        certify(targets.plain, **options)


def test_the_caller_is_left_as_it_was():
    random.seed(1)
    np.random.seed(1)
    states = (random.getstate(), str(np.random.get_state()), warnings.filters[:], np.geterr())
    certify(targets.plain, **QUICK, clauses="A1")
    assert states == (
        random.getstate(),
        str(np.random.get_state()),
        warnings.filters[:],
        np.geterr(),
    )


def test_smallest_stops_where_no_move_helps():
    problem = core("float64", N=7, M=9, D=4).but(scale=2.0, memory="strided", seed=5)
    found, done = smallest(problem, lambda p: p.M >= 3 and p.q.any(), float("inf"), MOVES)
    assert done
    assert (found.B, found.H, found.N, found.M, found.D, found.E) == (1, 1, 1, 3, 1, 1)
    assert found.q.tolist() == [[[[1.0]]]]
    assert not found.k.any()
    assert (found.scale, found.memory, found.seed) == (None, "contiguous", 0)


def test_tests_are_those_that_were_selected():
    assert [run.number for run in runs(targets.plain, **QUICK, clauses="V2")] == ["V2"]


@parametrize_with_clauses(targets.plain, **QUICK, clauses="A1,V2,S1")
def test_clauses_become_tests(run):
    run()


def test_a_clause_as_a_test_fails_with_the_failure():
    found = {run.id: run for run in runs(targets.elementwise, **QUICK, clauses="K2")}
    with pytest.raises(AssertionError, match="K2 key_gradients_sum_to_zero"):
        found["K2-key_gradients_sum_to_zero-float32"]()


def test_assert_attention_judges_arrays():
    q, k, v = (lattice(1, 2, n, 4, seed=n).astype(np.float32) for n in (3, 5, 5))
    mask = np.tri(3, 5, k=1, dtype=bool)
    out = targets.right(q, k, v, mask)
    assert_attention(out, q, k, v, mask=mask)
    with pytest.raises(AssertionError, match="want"):
        assert_attention(out, q, k, v)
    with pytest.raises(AssertionError, match="shape"):
        assert_attention(out[:, :, :2], q, k, v, mask=mask)
    with pytest.raises(TypeError, match="not list"):
        assert_attention(out, q.tolist(), k, v)


@pytest.mark.torch
def test_assert_attention_takes_torch():
    import torch

    q, k, v = (torch.tensor(lattice(1, 2, 5, 4, seed=n)).bfloat16() for n in range(3))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_attention(out, q, k, v, is_causal=True)
    with pytest.raises(AssertionError):
        assert_attention(out * 1.1, q, k, v, is_causal=True)


def test_nothing_is_written_where_the_caller_stands(tmp_path, monkeypatch):
    from hypothesis import configuration

    monkeypatch.chdir(tmp_path)
    before = str(configuration.storage_directory(intent_to_write=False))
    configuration.set_hypothesis_home_dir(tmp_path / ".hypothesis")
    try:
        certify(targets.right, dtypes=("float32",), profile="quick", clauses=("A1",))
    finally:
        configuration.set_hypothesis_home_dir(before)
    assert not list(tmp_path.iterdir())
