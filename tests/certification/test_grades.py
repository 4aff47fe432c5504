"""What is violated is violated in the grade of rounding that the certificate grants."""

import pytest

from spec.certification import certify, parametrize_with_clauses
from spec.certification.judging.examiner import Examiner
from spec.certification.ledger.reading import loaded
from spec.certification.settings import Request
from tests.night import deep
from tests.shell import NO_CAUSES, run

AHEAD = "tests.targets.switching:eager_and_ahead"
ASKED = {"dtypes": "float16", "clauses": "A1,S8", "seed": 0}  # S8 has no causal problems


def a1_and_granted(verdicts, conventions):
    (found,) = [v for v in verdicts if v.clause == "A1"]
    return found, conventions["rounding float16"]


@pytest.mark.slow
def test_what_was_violated_in_a_stricter_grade_is_judged_again():
    """On this seed A1 is first broken by rounding alone, and S8 grants a grade after that."""
    request = Request(AHEAD, dtypes=("float16",), seed=0)
    examiner = Examiner.of(AHEAD, request)
    strict, problem = examiner.verdict("A1", "float16", "strict")
    assert (strict.outcome, strict.rounding, problem.causal) == ("violated", "strict", False)
    certificate = certify(AHEAD, **ASKED)
    verdict, granted = a1_and_granted(certificate.verdicts, certificate.conventions)
    assert granted != "strict"
    assert (verdict.outcome, verdict.rounding) == ("violated", granted)
    assert verdict.counterexample.problem.rounding == granted
    assert verdict.counterexample.problem.causal
    assert "is_causal=True" in verdict.counterexample.script


@pytest.mark.parametrize(("jobs", "more"), [deep("1", ()), deep("2", ()), ("2", NO_CAUSES)])
def test_processes_of_their_own_judge_again_as_well(jobs, more, tmp_path):
    file = tmp_path / "c.json"
    words = ("--dtype", "float16", "--clause", "A1,S8", "--seed", "0", "--jobs", jobs, *more)
    done = run("certify", AHEAD, *words, "--json", str(file))
    assert done.returncode == 1, done.stdout + done.stderr
    found = loaded(file)
    verdict, granted = a1_and_granted(found.verdicts, found.conventions)
    assert granted != "strict"
    assert (verdict.outcome, verdict.rounding) == ("violated", granted)
    assert more or verdict.counterexample.problem.causal


def test_a_violation_that_cannot_be_judged_again_blocks_its_clause():
    certificate = certify(AHEAD, **{**ASKED, "clauses": "A1,S8,C3"}, fail_fast=True)
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert outcomes == {"A1": "violated", "S8": "blocked", "C3": "blocked"}


@pytest.mark.slow
def test_a_test_of_one_clause_is_judged_in_the_grade_that_the_definition_needs():
    target = "tests.targets.switching:eager_without_the_scale"
    options = {"dtypes": "float16", "clauses": "A3", "profile": "quick"}
    mark = parametrize_with_clauses(target, **options)
    one = next(run for run in mark.args[1] if run.number == "A3")
    with pytest.raises(AssertionError, match="is_causal=True"):
        one()


@pytest.mark.slow
@pytest.mark.torch
def test_rounding_is_no_second_cause_where_all_clauses_fail_for_the_first():
    """Every clause fails in every grade; what float32 answers right shows how float16 rounds."""
    options = {"profile": "quick", "dtypes": ("float32", "float16"), "clauses": "C16,C17"}
    certificate = certify("tests.targets.third_step:Cache", **options)
    (cause,) = certificate.causes
    assert cause.features == ("more than 2 steps",)
    assert {*cause.dtypes} == {"float32", "float16"}
    assert certificate.conventions["rounding float16"] == "flash"
    assert certificate.region.passed
