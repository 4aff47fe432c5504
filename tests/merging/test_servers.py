"""Merges in the forms that servers have: where they are right, and where they are not."""

import pytest

from spec import certify
from spec.certification.ledger.certificate import Certificate

pytestmark = pytest.mark.torch
TWO, ONE = "not two empty states", "not an empty state"
QUICK = {"profile": "quick", "dtypes": ("float32",)}


def judged(name: str, **asked: object) -> Certificate:
    from tests.merging import servers

    return certify(getattr(servers, name), **{**QUICK, **asked})  # type: ignore[arg-type]


@pytest.mark.slow
def test_bits_are_recognised_and_judged_as_such_when_declared() -> None:
    """flashinfer's form, whose gradients nobody asked for: NaN where both parts are empty."""
    undeclared = judged("merge_state", clauses="Q1,Q2")
    assert undeclared.exit_code == 1
    assert any("lse-base=2" in line for line in undeclared.advice), str(undeclared)
    asked = {"conventions": {"lse-base": "2"}, "layout": "lhd"}
    assert judged("merge_state", clauses="Q1,Q2,Q6,Q7,Q14,Q18", **asked).passed
    whole = judged("merge_state", where=TWO, **asked)
    assert whole.passed, str(whole)


@pytest.mark.slow
def test_who_writes_where_it_is_told_is_judged_by_what_it_wrote() -> None:
    """vLLM's form, in its own layout: found, and right but for two parts without keys."""
    found = judged("merge_attn_states")
    assert "judged with --layout lhd-hl" in str(found)
    (cause,) = found.causes
    assert {*cause.features} == {"two empty states"}
    for idle in ("-inf", "+inf"):
        asked = {"layout": "lhd-hl", "conventions": {"fully-masked-lse": idle}}
        certificate = judged("merge_attn_states", where=TWO, **asked)
        assert certificate.passed, str(certificate)
        outcomes = {v.clause: v.outcome for v in certificate.verdicts}
        assert outcomes["Q3"] == "not offered"


@pytest.mark.slow
def test_a_step_from_one_output_to_the_other_is_right_between_live_states() -> None:
    """Ring attention's form, whose log-sum-exp loses the difference of both (Lemma 2)."""
    whole = judged("update", where=ONE)
    assert whole.passed, str(whole)
    assert judged("update", clauses="Q7").exit_code == 1
