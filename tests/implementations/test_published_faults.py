"""Two faults that were published, and how they are refused: for what is wrong, and nothing else."""

from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.attention.definition import scores
from spec.attention.mistakes.gradients import differentiates_softmax_by_element
from spec.attention.mistakes.softmax import skips_the_maximum
from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.certificate import Certificate
from tests.night import deep

LAST_EXPONENT = 86.0  # exp of a little more, or less, leaves the normal numbers of float32
AS_DRAWN = ("A1", "S10", "X5", "X7", "M19", "M20", "C15")  # clauses that put a problem as it is


def violated(certificate: Certificate) -> list[Verdict]:
    return [v for v in certificate.verdicts if v.outcome == "violated" and v.force == "must"]


def outcome(certificate: Certificate, number: str) -> str:
    (found,) = (v for v in certificate.verdicts if v.clause == number)
    return found.outcome


@pytest.mark.slow
@pytest.mark.parametrize("clauses", [("A1", "A2", "A3", "A4", "K2", "S11", "V7", "V8"), deep(None)])
def test_the_element_wise_derivative_is_refused_and_its_dv_is_not_blamed(clauses: Any) -> None:
    asked: dict[str, Any] = {"dtypes": ("float32",), "profile": "quick", "clauses": clauses}
    certificate = certify(differentiates_softmax_by_element, **asked)
    assert {"A2", "A3", "K2", "S11"} <= {v.clause for v in violated(certificate)}
    assert [outcome(certificate, n) for n in ("A1", "A4", "V7", "V8")] == ["holds"] * 4
    for verdict in violated(certificate):
        assert verdict.counterexample is not None
        small = verdict.counterexample.problem
        assert (small.B, small.H) == (1, 1), verdict.clause
        assert small.N <= 2, verdict.clause
        assert small.M <= 2, verdict.clause
        assert max(small.D, small.E) <= 2, verdict.clause
        names = " ".join(verdict.counterexample.looks_like)
        assert verdict.clause not in ("A2", "A3") or "differentiates_softmax_by_element" in names


@pytest.mark.deep
def test_a_softmax_without_its_maximum_is_refused_by_large_scores_alone() -> None:
    certificate = certify(skips_the_maximum, dtypes=("float32",), profile="quick")
    assert {"A1", "S10"} <= {v.clause for v in violated(certificate)}
    for verdict in violated(certificate):
        if verdict.clause in AS_DRAWN:
            assert verdict.counterexample is not None
            s = scores(verdict.counterexample.problem)
            assert np.abs(s[np.isfinite(s)]).max() > LAST_EXPONENT, verdict.clause
    calm = ("B9", "B10", "T1", "T2")  # every score is zero there, or nobody looks
    assert not {v.clause for v in violated(certificate)} & set(calm)
