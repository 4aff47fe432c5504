"""What a certificate says of a failure: the smallest problem, a script, a report that is kept."""

import json
import subprocess
import sys

import numpy as np
import pytest

from spec.attention.plug.trials import core
from spec.certification import certify
from spec.certification.ledger.reading import loaded
from spec.certification.ledger.text import save_report
from spec.saved import problem_from_json, problem_to_json


@pytest.fixture(scope="module")
def refuted():
    return certify("tests.targets:elementwise", profile="quick", dtypes="float32", clauses="A,K")


def verdicts_of(certificate, clause):
    return [v for v in certificate.verdicts if v.clause == clause]


@pytest.mark.slow
def test_a_published_gradient_is_refuted_by_the_smallest_problem(refuted):
    assert not refuted.passed
    assert refuted.exit_code == 1
    (verdict,) = verdicts_of(refuted, "A2")
    assert verdict.outcome == "violated"
    p = verdict.counterexample.problem
    assert (p.B, p.H, p.G) == (1, 1, 1)
    assert max(p.N, p.M, p.D, p.E) <= 2
    assert verdict.counterexample.reduced
    assert any("list-of-heads" in line for line in verdict.counterexample.looks_like)


def test_the_right_part_of_a_wrong_gradient_is_not_blamed(refuted):
    (verdict,) = verdicts_of(refuted, "A4")
    assert verdict.outcome == "holds"


def test_a_failure_is_printed_whole(refuted):
    text = str(refuted)
    (verdict,) = verdicts_of(refuted, "A2")
    place = verdict.counterexample.place
    for words in ("dq and dk are wrong", f"{place.want:.9g}", "dout =", "looks like", "repeat"):
        assert words in text


@pytest.mark.parametrize("number", ["A2", "K2"])
def test_the_script_of_a_failure_runs_on_its_own(refuted, number, tmp_path):
    (verdict,) = verdicts_of(refuted, number)
    script = verdict.counterexample.script
    code = script.split('"""', 2)[2]
    assert len(code.strip().splitlines()) <= 16  # two of them say where the target is
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


def test_a_report_has_a_script_for_each_cause(refuted, tmp_path):
    save_report(refuted, tmp_path)
    scripts = {path.name for path in tmp_path.glob("*.py")}
    assert scripts == {f"cause-{place}.py" for place in range(1, 1 + len(refuted.causes))}
    assert all(verdict.causes for verdict in refuted.failures)
    assert (tmp_path / "certificate.txt").read_text() == str(refuted)


def test_problems_survive_json():
    problem = core("float16").but(mask=np.array([[0.5, -np.inf, np.nan, 0, 1]]), memory="offset")
    back = problem_from_json(type(problem), json.loads(json.dumps(problem_to_json(problem))))
    assert np.array_equal(back.mask, problem.mask, equal_nan=True)
    assert back.memory == "offset"
    assert (back.q == problem.q).all()
