"""Conventions and refusals: what is declared is heeded, and held to."""

import json

import pytest

from spec import CLAUSES
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.certification import certify
from spec.certification.ledger.brief import brief, in_full
from spec.certification.ledger.reading import read
from spec.certification.pages.certificate_page import certificate_page
from spec.certification.target.loading import record
from spec.certification.target.probing import probed
from tests import targets
from tests.shell import run

QUICK = {"profile": "quick", "dtypes": ("float32",)}


@pytest.mark.quick("interleaved*", "bottom*")
@pytest.mark.parametrize(
    ("target", "name", "choice", "clauses"),
    [
        (targets.bottom_right, "causal", "bottom-right", "A,C"),
        (targets.forbids, "mask-means", "forbid", "A,M"),
        (targets.interleaved, "grouping", "interleaved", "A,H"),
        (targets.nan_when_idle, "fully-masked", "nan", "A,M"),
        (targets.uniform_when_idle, "fully-masked", "uniform", "A,M"),
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


@pytest.mark.slow
def test_a_convention_that_is_declared_and_not_kept_is_refused():
    assert (
        certify(targets.right, **QUICK, clauses="M", conventions={"fully-masked": "nan"}).exit_code
        == 1
    )


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


# What a target declares of itself


CORNER = {"causal": "bottom-right"}
UNDER = "under conventions it declares itself: causal=bottom-right"
A1 = {"profile": "quick", "dtypes": ["float32"], "clauses": ["A1"]}


@pytest.fixture
def declaring(monkeypatch):
    """A function that says what it goes by, a default among it."""
    said = CORNER | {"fully-masked-bias": "as-fully-masked"}
    monkeypatch.setattr(targets.bottom_right, "conventions", said, raising=False)
    return targets.bottom_right


def test_what_a_target_declares_of_itself_stands_in_the_first_line(declaring, tmp_path):
    certificate = certify(declaring, **A1)
    assert certificate.declares == CORNER
    assert str(certificate).startswith(f"bottom_right: certified (quick), {UNDER}\n====")
    certificate.save(tmp_path / "saved.json")
    assert str(read(tmp_path / "saved.json")) == str(certificate)
    kept = in_full(json.loads(json.dumps(brief(certificate))), CLAUSES)
    assert kept.declares == CORNER


def test_what_a_person_declares_as_well_does_not(declaring):
    certificate = certify(declaring, **A1, conventions=CORNER)
    assert (certificate.declares, certificate.passed) == ({}, True)
    assert str(certificate).startswith("bottom_right: certified (quick)\n====")


@pytest.mark.html
def test_nor_is_it_left_out_of_a_page(declaring):
    page = certificate_page(certify(declaring, **A1), CLAUSES)
    assert f"</span>certified (quick), {UNDER}</p>" in page


def test_a_record_declares_as_a_function_does(declaring):
    certificate = certify(record(declaring), **A1)
    assert certificate.declares == CORNER


@pytest.mark.slow
def test_pytest_says_it_too(tmp_path):
    mine = f"from tests.targets import bottom_right as attend\nattend.conventions = {CORNER}\n"
    (tmp_path / "mine.py").write_text(mine)
    words = ("--implementation", "mine.py:attend", "--profile", "quick", "--dtype", "float32")
    done = run(
        *words,
        "--clause",
        "A1",
        "-p",
        "pytest_attention_spec",
        cwd=tmp_path,
        program=("-m", "pytest"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"\n{UNDER}\n" in done.stdout
