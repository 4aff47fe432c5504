"""Functions that are always causal, take as many queries as keys, or padding alone."""

from pathlib import Path
from typing import Any

import pytest

from spec import certify
from spec.attention.domain import EVERY, Problems
from spec.attention.options import KINDS, Capability
from spec.certification.ledger.certificate import Certificate
from spec.domain import Scope
from tests.attention.draws import EITHER_WAY, Draws
from tests.attention.test_scripts import found, run
from tests.targets import always as targets

CLAUSES = ("A", "S1", "M1", "M3", "C", "P4", "T4")


def judged(function: Any, **options: Any) -> Certificate:
    few = {"profile": "quick", "dtypes": ("float32",), "clauses": CLAUSES}
    return certify(function, **few | options)


def outcomes(certificate: Certificate) -> dict[str, str]:
    return {verdict.clause: verdict.outcome for verdict in certificate.verdicts}


def test_what_is_always_causal_is_certified_once_that_is_declared() -> None:
    without = judged(targets.causal, clauses="A", fail_fast=True)
    assert without.exit_code == 1
    assert any("causality=always" in line for line in without.advice)
    declared = judged(targets.causal, conventions={"causality": "always"})
    assert declared.passed, str(declared)
    assert not declared.advice
    seen = outcomes(declared)
    held = {"A1", "S1", "C2", "C3", "C8", "C15", "P4", "T4"}
    assert {number for number in held if seen[number] == "holds"} == held
    assert seen["C6"] == "not offered"
    assert "attending to future keys (" in " ".join(str(declared).split())
    assert "refused" not in declared.ledger or not declared.ledger["refused"]


@pytest.mark.parametrize("target", [targets.padded, targets.causal_and_late])
def test_declaring_it_excuses_nothing(target: Any) -> None:
    """Neither a function that sees the future, nor one with another fault."""
    certificate = judged(target, clauses="A", conventions={"causality": "always"}, fail_fast=True)
    assert certificate.exit_code == 1
    example = certificate.failures[0].counterexample
    assert example is not None
    assert example.problem.causal


@pytest.mark.slow
def test_a_second_fault_is_found_beside_causality_that_is_not_declared() -> None:
    first, second = judged(targets.causal_and_late, clauses="A1").causes
    assert "the convention causality=always: declare it with" in first.lens
    assert second.lens == "correct if the scale is given, 1 / sqrt(D)"


def test_a_script_repeats_what_an_always_causal_function_does(tmp_path: Path) -> None:
    options = {"profile": "quick", "conventions": {"causality": "always"}}
    text = found("A1", "tests.targets.always:causal_and_late", "float32", **options)
    assert "from spec" not in text
    assert "causal=True" not in text
    again = run(text, tmp_path)
    assert again.returncode == 1, again.stderr
    assert again.stdout.startswith("got")


def test_whoever_refuses_other_lengths_is_judged_on_equal_ones() -> None:
    certificate = judged(targets.as_many)
    assert certificate.passed, str(certificate)
    assert "unsupported: queries and keys of different lengths" in str(certificate)
    seen = outcomes(certificate)
    assert {seen[number] for number in ("A1", "S1", "M1", "C2", "C3", "C7", "P4")} == {"holds"}
    assert seen["T4"] == "refused", "it takes a key away"


def test_whoever_is_wrong_at_other_lengths_has_to_say_so() -> None:
    without = judged(targets.first_ones, clauses="A", fail_fast=True)
    assert without.exit_code == 1
    assert any("lengths=equal" in line for line in without.advice)
    declared = judged(targets.first_ones, conventions={"lengths": "equal"})
    assert declared.passed, str(declared)
    assert outcomes(declared)["A1"] == "holds"


def test_whoever_takes_padding_alone_is_judged_on_padding() -> None:
    certificate = judged(targets.padded)
    assert certificate.passed, str(certificate)
    assert "unsupported: masks of other shapes than (B, 1, 1, M)" in str(certificate)
    assert outcomes(certificate)["M1"] == "holds"
    wrong = judged(targets.padded_alike, fail_fast=True)
    assert wrong.exit_code == 1
    assert outcomes(wrong)["A1"] == "violated"


@EITHER_WAY
def test_nothing_else_is_drawn_for_them(draw: Draws) -> None:
    domain = Problems(masks=EVERY, empty=True)
    causal, square, padded = (
        draw(domain, Scope("float32", answers=KINDS - {kind}), 100)
        for kind in (Capability.FUTURE, Capability.LENGTHS, Capability.FORMS)
    )
    assert all(p.causal for p in causal)
    assert any(p.mask is not None for p in causal)
    assert all(p.N == p.M for p in square)
    assert any(p.N == 0 for p in square)
    masks = [(p.mask.shape, (p.B, 1, 1, p.M)) for p in padded if p.mask is not None]
    assert masks
    assert all(got == want for got, want in masks)
