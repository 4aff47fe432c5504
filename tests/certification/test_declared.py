"""Conventions and refusals: what is declared is heeded, and held to."""

import pytest

from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.certification import certify
from spec.certification.target.probing import probed
from tests import targets

QUICK = {"profile": "quick", "dtypes": ("float32",)}


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
    undeclared = certify(target, **QUICK, clauses=clauses, fail_fast=True)
    assert undeclared.exit_code == 1
    assert any(f"{name}={choice}" in line for line in undeclared.advice)
    assert "if it is meant" in " ".join(str(undeclared).split())
    declared = certify(target, **QUICK, clauses=clauses, conventions={name: choice})
    assert declared.passed, str(declared)
    assert declared.conventions[name] == choice


def test_a_convention_that_is_declared_and_not_kept_is_refused():
    assert certify(targets.right, **QUICK, clauses="M", conventions={"idle": "nan"}).exit_code == 1


def test_what_is_refused_is_listed_and_left_out():
    certificate = certify(targets.refuses_widths, **QUICK, clauses="A,V")
    assert certificate.passed, str(certificate)
    assert any(r.what == Capability.WIDTHS for r in certificate.refusals)
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
