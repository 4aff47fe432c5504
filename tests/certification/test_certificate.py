"""Certification from Python: who is certified, by which clauses, and when nothing is decided."""

from dataclasses import replace

import numpy as np
import pytest

from implementations import dense
from spec import about
from spec.backends import Unsuitable
from spec.certification import certify
from spec.certification.judging.drawing import series
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.judging import scope_for
from spec.certification.judging.plan import FEW
from spec.certification.ledger.causes import as_text
from spec.certification.profiles import PROFILES
from spec.certification.settings import Request
from tests import targets
from tests.certification.made import certificate as made
from tests.certification.made import verdict
from tests.night import deep

CLAUSES = about("attention")
QUICK = {"profile": "quick", "dtypes": ("float32",)}


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


@pytest.mark.slow
def test_float64_in_float32_is_told_in_words():
    """The definition tells it, and that dtype is left alone after that."""
    certificate = certify(targets.in_float32, profile="quick", clauses=("A1", "S1"))
    outcomes = {(v.clause, v.dtype): v for v in certificate.verdicts}
    assert outcomes["A1", "float64"].outcome == "violated"
    assert outcomes["S1", "float64"].outcome == "refused"
    for number in ("A1", "S1"):
        assert "computes float64 in float32" in outcomes[number, "float64"].message
        assert outcomes[number, "float32"].outcome == "holds"
    assert certificate.region.sentence == "not float64"
    assert certificate.region.passed


@pytest.mark.slow
def test_who_is_off_by_a_constant_is_not_told_to_compute_in_float32():
    """As 10^-8 in the denominator is, which is less than a rounding of float32."""

    def attend(query, key, value):
        return targets.right(query, key, value) / query.dtype.type(1 + 1e-8)

    certificate = certify(attend, profile="quick", clauses=("A1",), dtypes=["float64"])
    assert certificate.verdicts[0].outcome == "violated"
    assert "in float32" not in str(certificate)


@pytest.mark.slow
def test_who_computes_in_float32_is_not_taken_for_one_of_rough_tangents():
    def attend(query, key, value, softcap=None):
        single = (x.astype(np.float32) for x in (query, key, value))
        return dense.attend(*single, softcap=softcap).astype(query.dtype)

    settled = {"profile": "quick", "clauses": ("A1", "U1"), "dtypes": ["float64", "float32"]}
    certificate = certify(attend, **settled)
    assert "computes float64 in float32" in str(certificate)
    assert not certificate.advice


def test_fail_fast_blocks_the_rest():
    certificate = certify(targets.elementwise, **QUICK, clauses="A", fail_fast=True)
    assert certificate.ledger["violated"] == 1
    assert certificate.ledger["blocked"] >= 1
    assert certificate.exit_code == 1


@pytest.mark.parametrize(("clauses", "least"), [("A1,A7,S1,S2", 2), deep("A,S", 10)])
def test_who_is_right_is_judged_as_thoroughly_after_a_look_at_few_problems(clauses, least):
    options = {**QUICK, "profile": "standard", "dtypes": ("float16",), "clauses": clauses}
    plain, fast = (certify(dense.attend, **options, fail_fast=x) for x in (False, True))
    assert plain.ledger["holds"] > least
    found = [[replace(v, seconds={}) for v in x.verdicts] for x in (plain, fast)]
    assert found[0] == found[1]


def test_what_few_problems_do_not_show_is_found_in_full():
    options = {**QUICK, "profile": "standard", "clauses": ("A1",)}
    clause, judge = CLAUSES["A1"], Examiner.of(dense.attend, Request(target="", **options))
    scope = scope_for(clause, judge.probed.by_dtype["float32"], "float32", "strict", "standard")
    met = [p.N for p in series(clause, scope, PROFILES["standard"].examples * clause.effort, 0)]
    late = next(length for length in met if length not in met[: FEW * clause.effort])

    def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
        o = dense.attend(query, key, value, attn_mask, is_causal, scale)
        return o + o.dtype.type(query.shape[-2] == late)

    judge = Examiner.of(attend, Request(target="", **options))
    seen = [judge.verdict("A1", "float32", "strict", few=x)[0] for x in (True, False)]
    assert [v.outcome for v in seen] == ["holds", "violated"]
    fast = certify(attend, **options, fail_fast=True)
    assert [v.outcome for v in fast.verdicts] == ["violated"]


def test_a_selection_is_certified_as_the_definition_is_run_as_well():
    certificate = certify(targets.plain, **QUICK, clauses="V2")
    assert [v.clause for v in certificate.verdicts] == ["A1", "V2"]
    assert certificate.passed
    assert "--clause V2,A1" in certificate.command


@pytest.mark.parametrize("named", ["A", "A1", "output_matches_definition"])
def test_the_definition_is_not_added_where_it_was_selected(named):
    certificate = certify(targets.plain, **QUICK, clauses=named)
    assert certificate.command.endswith(f"--clause {named}")
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
        ({"clauses": "Q99"}, "unknown clause 'Q99'"),
        ({"dtypes": "float8"}, "unknown dtype 'float8'"),
        ({"dtypes": "bfloat16", "backend": "numpy"}, "the NumPy backend has no bfloat16"),
        (
            {"conventions": {"fully-masked": "seven"}},
            "unknown choice for the convention fully-masked",
        ),
        ({"conventions": {"colour": "red"}}, "unknown convention 'colour'"),
        ({"profile": "endless"}, "unknown profile"),
        ({"jobs": 0}, "--jobs 0"),
    ],
)
def test_options_that_there_are_not(options, words):
    with pytest.raises(Unsuitable, match=words):
        certify(targets.plain, **options)


def test_an_array_of_many_axes_is_written_as_a_paragraph():
    assert as_text(np.zeros((1, 1, 2, 1)), 7) == "[[[[0.],\n          [0.]]]]"
    assert as_text(np.zeros((2, 2, 2, 1)), 7).count("\n") == 0
    assert all(len(line) <= 100 for line in as_text(np.ones((3, 3, 2, 2)), 7).splitlines())


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        (("holds", "blocked"), "incomplete: passed as far as tested"),
        (("holds", "holds"), "certified (quick)"),
        (("blocked", "blocked"), "incomplete"),
        (("holds", "crashed"), "incomplete"),
        (("violated", "blocked"), "not certified"),
    ],
)
def test_what_passes_as_far_as_it_was_tested_says_so(outcomes, words):
    verdicts = (verdict(n, x) for n, x in zip(("A1", "A2"), outcomes, strict=True))
    assert str(made(*verdicts)).startswith(f"mine: {words}\n")
