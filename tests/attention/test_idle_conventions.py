"""Idle rows as libraries have them: declared, recognised, and judged, their gradients too."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES, certify
from spec.attention.conventions import CONVENTIONS
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.attention.plug.conventions import under
from spec.attention.plug.idle_rows import Declared
from spec.attention.plug.trials import core
from spec.certification.explaining.script import script
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.comparison import Violation
from tests.night import deep
from tests.shell import run
from tests.targets import idle as targets

QUICK: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",)}
NAN = {"fully-masked": "nan"}
FILLED = {"fully-masked": "uniform", "fully-masked-bias": "nan"}
HIDES = np.array([[False] * 5, [True] * 5, [True] * 5, [False] * 5])
HIDDEN = core("float32").but(mask=HIDES)
BY_BIAS = core("float32").but(mask=np.where(HIDES, 0.0, -np.inf))


@pytest.mark.quick("by*")
@pytest.mark.torch
@pytest.mark.parametrize("clauses", [("A1", "A2", "A7", "M"), deep(None)])
@pytest.mark.parametrize(
    ("target", "declared"),
    [(targets.plain, NAN), (targets.filled, FILLED), (targets.hand_filled, FILLED)],
    ids=["plain", "filled", "by hand"],
)
def test_it_is_recognised_and_certified_once_declared(
    target: Callable[..., Any], declared: dict[str, str], clauses: Any
) -> None:
    backend = "numpy" if target is targets.hand_filled else "torch"
    options = {**QUICK, "backend": backend, "clauses": "A1,M9"}
    undeclared = certify(target, **options, fail_fast=True)
    assert undeclared.exit_code == 1
    (advice,) = undeclared.advice
    assert re.findall(r"--convention (\S+)", advice) == [f"{n}={x}" for n, x in declared.items()]
    told = {"backend": backend, "conventions": declared, "seed": 3}  # which breaks all three
    certificate = certify(target, **QUICK, **told, clauses=clauses)
    assert certificate.passed, str(certificate)
    broken = {"M8", "M24"} | ({"M28"} if declared is FILLED else set())  # by the lowest number
    asked = [v for v in certificate.verdicts if v.force != "promise"]
    assert {v.clause for v in asked if v.outcome == "violated"} == broken


@pytest.mark.slow
@pytest.mark.torch
def test_both_are_declared_on_the_command_line() -> None:
    words = ("certify", "tests.targets.idle:filled", "--backend", "torch", "--profile", "quick")
    words += ("--dtype", "float32", "--clause", "M9", "--convention", "fully-masked=uniform")
    options = {
        **QUICK,
        "backend": "torch",
        "clauses": "M9",
        "conventions": {"fully-masked": "uniform"},
    }
    without = certify(targets.filled, **options, fail_fast=True)
    assert without.exit_code == 1, without
    said = " ".join(str(without).split())
    assert "declare it with --convention fully-masked-bias=nan if it is meant" in said
    declared = run(*words, "--convention", "fully-masked-bias=nan")
    assert declared.returncode == 0, declared.stdout + declared.stderr
    assert "conventions   fully-masked=uniform, fully-masked-bias=nan\n" in declared.stdout
    unknown = run(
        "certify", "implementations.dense:attend", "--convention", "fully-masked-bias=none"
    )
    assert unknown.returncode == 2
    assert "choose from as-fully-masked, zero, nan, uniform" in unknown.stderr


def test_who_hides_a_row_settles_what_it_follows() -> None:
    """Truth values, -inf, or both; and both are open where they say different things."""
    mask = np.zeros((4, 4))
    mask[1], mask[3] = -np.inf, -np.inf
    late = core("float32", N=4, M=4).but(mask=mask, causal=True)
    assert said(late, FILLED) == ["", "open", "", "nan"]  # nothing is future to the last
    assert said(late, NAN) == ["", "nan", "", "nan"]
    assert said(late.but(causal=False), FILLED) == ["", "nan", "", "nan"]
    assert said(late.but(mask=mask == 0), FILLED) == ["", "uniform", "", "uniform"]
    few = core("float32", N=4, M=3).but(causal=True, corner="bottom-right")
    assert said(few, FILLED) == ["uniform", "", "", ""]
    assert said(few.but(mask=np.zeros((4, 3))), FILLED) == ["uniform", "", "", ""]


def said(problem: Problem, chosen: dict[str, str]) -> list[str]:
    """What is declared of each query of the first head."""
    defaults = {name: choices[0] for name, choices in CONVENTIONS.items()}
    return list(Declared(problem, {**defaults, **chosen}).choice[0, 0])


@pytest.mark.torch
@pytest.mark.parametrize("target", [targets.filled, targets.hand_filled])
def test_the_gradients_of_a_mean_are_judged(target: Callable[..., Any]) -> None:
    backend = "numpy" if target is targets.hand_filled else "torch"
    right = under(implementation(target, backend=backend), FILLED)
    right.backward(HIDDEN)

    def but(**changes: Any) -> Any:
        """A function whose gradients of a mean are something else."""
        found = implementation(target, backend=backend)

        def backward(problem: Problem) -> Any:
            got = found.backward(problem)
            idle = problem.idle[..., None] * problem.dout
            return type(got)(
                **{n: getattr(got, n) + changes.get(n, 0) * moved(n, idle) for n in "qkv"}
            )

        return under(found.but(backward=backward), FILLED)

    def moved(name: str, idle: Any) -> Any:
        return idle if name == "q" else idle.sum(axis=2, keepdims=True) / 5

    for name, wrong in (("q", 1.0), ("k", 1.0), ("v", -1.0), ("v", 1.0)):
        with pytest.raises(Violation):
            but(**{name: wrong}).backward(HIDDEN)


def test_what_is_nan_spoils_its_own_head_alone() -> None:
    """The gradients of other heads, and of the live queries, are judged as ever."""
    mask = np.zeros((2, 3, 4, 5))
    mask[1, 2, 3] = -np.inf
    problem = core("float32").but(mask=mask)
    record = implementation(targets.hand_filled, backend="numpy")
    good = under(record, FILLED).backward(problem)
    assert all(np.isfinite(x).all() for x in (good.q, good.k, good.v))
    assert np.isnan(record.backward(problem).v[1, 2]).all()

    def backward(asked: Problem) -> Any:
        found = record.backward(asked)
        v = found.v.copy()
        v[:, :2] = np.nan
        return type(found)(found.q, found.k, v)

    bad = under(record.but(backward=backward), FILLED).backward(problem)
    assert np.isnan(bad.v).all(axis=(2, 3)).tolist() == [[True, True, False], [True, True, False]]


@pytest.mark.torch
def test_what_is_printed_was_returned_and_what_is_wanted_was_declared() -> None:
    right = implementation(targets.filled, backend="torch")
    mean = right.forward(HIDDEN)[0, 0, 0, 0]
    with pytest.raises(Violation) as caught:
        under(right, NAN).forward(HIDDEN)
    place = caught.value.place
    assert place is not None
    assert (place.index, place.got) == ((0, 0, 0, 0), mean)
    assert np.isnan(place.want)
    assert str(caught.value) == f"at (0, 0, 0, 0): got {float(mean):.9g}, want nan"
    with pytest.raises(Violation) as caught:
        under(right, {"fully-masked": "uniform"}).forward(BY_BIAS)
    assert caught.value.place is not None
    assert np.isnan(caught.value.place.got)
    assert np.isclose(caught.value.place.want, float(mean))
    assert "nan within" not in str(caught.value)


@pytest.mark.torch
@pytest.mark.parametrize("clause", ["A4", "M11"])
def test_a_script_knows_the_gradients_of_a_mean(clause: str) -> None:
    """`plain` sends no cotangent to what it hides, where a mean would."""
    request = Request("tests.targets.idle:sends_nothing", backend="torch", conventions=FILLED)
    text = script(CLAUSES[clause], load(request.target, request), request, HIDDEN, "It is broken.")
    assert "spec.certification" not in text, text
    names: dict[str, Any] = {}
    with pytest.raises(SystemExit) as ended:
        exec(text, names)
    assert ended.value.code
    assert np.isfinite(names["want"]).all()
    assert (names["want"] - names["got"]).any()
