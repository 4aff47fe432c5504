"""Conventions of layers and of positions: recognised, declared, and judged as declared."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spec import certify
from spec.backends import Unsuitable
from spec.certification.ledger.reading import loaded
from spec.certification.settings import check_conventions
from spec.kinds import KINDS
from spec.layer.plug.conventions import opposite
from spec.layer.record import Layer
from tests.night import deep
from tests.targets import layers

IDLE = "L1,L31,L32,L45,L47"  # the clauses about a query that sees no key


def test_of_a_kind_that_leaves_nothing_open_it_is_said_that_there_is_none() -> None:
    """As that of a recipe (CONTRIBUTING.md); all that are here leave something open."""
    bare: Any = SimpleNamespace(name="bare", conventions={}, choices={})
    with pytest.raises(Unsuitable, match="--convention fully-masked=nan: there is none for bare"):
        check_conventions(bare, {"fully-masked": "nan"})


# Conventions of layers


@pytest.mark.quick("UniformWhenIdle*")
@pytest.mark.parametrize(
    ("build", "name", "choice", "clauses"),
    [
        (layers.Attends, "mask-means", "attend", "L1,L2,L23,L24"),
        (layers.NanWhenIdle, "fully-masked", "nan", IDLE),
        (layers.UniformWhenIdle, "fully-masked", "uniform", IDLE),
        deep(layers.Attends, "mask-means", "attend", None),
        deep(layers.NanWhenIdle, "fully-masked", "nan", None),
        deep(layers.UniformWhenIdle, "fully-masked", "uniform", None),
    ],
)
def test_a_convention_is_recognised_and_verified(
    build: type, name: str, choice: str, clauses: str | None
) -> None:
    options = {"profile": "quick", "dtypes": ("float32",), "clauses": clauses}
    without = certify(build, **options, fail_fast=True)  # type: ignore[arg-type]
    assert without.exit_code == 1
    assert any(f"{name}={choice}" in line for line in without.advice)
    declared = certify(build, **options, conventions={name: choice})  # type: ignore[arg-type]
    assert declared.passed, str(declared)
    options |= {"conventions": {name: choice}, "fail_fast": True}
    wrong = certify(layers.MultiHead, **options)  # type: ignore[arg-type]
    assert wrong.exit_code == 1


@pytest.mark.slow
def test_a_layer_fills_where_truth_values_hide_and_adds_minus_infinity() -> None:
    options = {"profile": "quick", "dtypes": ("float32",)}
    both = {"fully-masked": "uniform", "fully-masked-bias": "nan"}
    without = certify(layers.FilledWhenIdle, **options, clauses="L1,L31,L47", fail_fast=True)  # type: ignore[arg-type]
    assert without.exit_code == 1
    (advice,) = without.advice
    named = " and ".join(f"{name}={choice}" for name, choice in both.items())
    assert advice.startswith(f"looks like the conventions {named}: declare them with ")
    declared = certify(layers.FilledWhenIdle, **options, clauses=IDLE, conventions=both)  # type: ignore[arg-type]
    assert declared.passed, str(declared)
    one = {"fully-masked": "uniform"}
    options |= {"clauses": "L47", "fail_fast": True}
    wrong = certify(layers.FilledWhenIdle, **options, conventions=one)  # type: ignore[arg-type]
    (verdict,) = (v for v in wrong.verdicts if v.clause == "L47")
    assert verdict.outcome == "violated"
    assert "got nan, want" in verdict.message
    assert "want nan" not in verdict.message


@pytest.mark.slow
def test_a_choice_is_held_to_where_weights_are_asked_for() -> None:
    """And who returns those of each head alone is asked for these alone."""
    found = certify(
        layers.UniformUnlessShown,
        profile="quick",
        dtypes=("float32",),
        clauses="L1,L4,L5,L6,L7,L31,L32",
        conventions={"fully-masked": "uniform"},
        seed=1,
    )
    outcomes = {v.clause: v.outcome for v in found.verdicts}
    assert outcomes.pop("L6") == "refused"
    assert outcomes.pop("L32") == "violated"
    assert {*outcomes.values()} == {"holds"}
    assert [x.what for x in found.refusals] == ["returns the mean of the weights of the heads"]
    (cause,) = found.causes
    assert cause.sentence == "where a fully masked query and weights returned, the output is wrong"


@pytest.mark.slow
def test_plain_functions_of_a_problem_are_put_the_opposite_of_its_masks() -> None:
    """They are told of causality by the problem, and of the masks as it has them."""
    truth = KINDS["layer"].truth()
    attends = Layer("attends", lambda problem: truth.forward(opposite(problem)))
    options = {"profile": "quick", "dtypes": ("float32",)}
    assert not certify(attends, **options, fail_fast=True).passed  # type: ignore[arg-type]
    assert certify(attends, **options, conventions={"mask-means": "attend"}).passed  # type: ignore[arg-type]


# Conventions of positions


@pytest.mark.parametrize(
    ("name", "kind", "clauses"),
    [
        ("sines_before_cosines", "sinusoidal", "R1"),
        ("by_halves", "rotary", "R14"),
        deep("sines_before_cosines", "sinusoidal", None),
        deep("by_halves", "rotary", None),
    ],
)
def test_another_pairing_is_named_and_can_be_declared(
    name: str, kind: str, clauses: str | None
) -> None:
    options: dict[str, Any] = {"kind": kind, "profile": "quick", "dtypes": ("float32",)}
    halves = {"pairing": "halves"}
    target = f"tests.targets.layers:{name}"
    without = certify(target, **options, clauses=clauses)
    assert without.exit_code == 1, str(without)
    assert "correct under the convention pairing=halves" in str(without)
    declared = certify(target, **options, clauses=clauses, conventions=halves)
    assert declared.passed, str(declared)
    assert "pairing=halves" in str(declared)
    options |= {"kind": "rotary", "conventions": {"pairing": "interleaved"}, "fail_fast": True}
    wrong = certify("implementations.rotary:rotate_halves", **options)
    assert wrong.exit_code == 1, str(wrong)


def test_keys_ahead_are_asked_for_once_both_sides_are_declared() -> None:
    options = {"kind": "alibi", "profile": "quick", "dtypes": ("float32",)}
    past = layers.charges_the_past
    assert certify(past, **options).passed  # type: ignore[arg-type]
    options |= {"conventions": {"sides": "both"}, "fail_fast": True}
    wrong = certify(past, **options)  # type: ignore[arg-type]
    assert wrong.exit_code == 1


# What is printed of them


@pytest.mark.parametrize(
    ("target", "about", "departure"),
    [
        (layers.MultiHead, None, ("fully-masked", "nan")),
        (layers.encode, "sinusoidal", ("pairing", "halves")),
        (layers.rotate, "rotary", ("pairing", "halves")),
        (layers.charges_the_past, "alibi", ("sides", "both")),
    ],
)
def test_what_is_the_default_of_its_kind_is_no_departure(
    target: Any, about: str | None, departure: tuple[str, str], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"kind": about, "profile": "quick", "dtypes": ("float32",)}
    first = KINDS[about or "layer"].definition
    plain = certify(target, **options, clauses=(first,))
    assert "conventions   all default\n" in str(plain)
    other = certify(target, **options, clauses=(first,), conventions=dict([departure]))
    assert f"conventions   {'='.join(departure)}\n" in str(other)
    other.save(tmp_path / "now.json")
    assert str(loaded(tmp_path / "now.json")) == str(other)
    old = json.loads((tmp_path / "now.json").read_text())
    for name in ("definition", "defaults"):  # which a certificate did not say of itself
        del old[name]
    for verdict in old["verdicts"]:
        verdict.pop("likewise", None)
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert str(loaded(tmp_path / "old.json")) == str(other)
