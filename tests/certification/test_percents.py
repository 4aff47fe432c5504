"""In bfloat16, what is wrong by a few percent is refused, whatever may be stored there.

All these were certified while no problem was so that storing adds nothing (Lemma 7).
"""

import pytest

from spec import certify
from tests.power.attention import KINDS, right, wrong

pytestmark = pytest.mark.torch
TARGETS = "tests.targets.percents"
WRONG = (
    "temperature_is_two_percent_off",
    "query_gradients_are_two_percent_off",
    "key_gradients_are_three_percent_off",
    "value_gradients_are_one_percent_off",
    "row_term_is_two_percent_off",
)
QUICKLY = {"profile": "quick", "dtypes": ("bfloat16",), "isolation": "none"}


@pytest.mark.quick("0-query*")
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_is_wrong_by_percents_is_refused(name: str, seed: int) -> None:
    assert not certify(f"{TARGETS}:{name}", **QUICKLY, seed=seed, fail_fast=True).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "clause", "strength", "most"),
    [("dmask", "A5", 0.05, 3), ("dslopes", "Y13", 0.02, 1), ("dsinks", "Z14", 0.02, 0)],
)
def test_gradients_of_options_that_are_wrong_by_percents_are_refused(
    fault: str, clause: str, strength: float, most: int
) -> None:
    """most: seeds of eight for which no problem of the clause is so that little is stored."""
    how = {**QUICKLY, "backend": "torch", "clauses": (clause,), "fail_fast": True}
    function = wrong(fault, strength).attend
    found = [certify(function, **how, diagnosis_timeout=0.1, seed=seed) for seed in range(8)]
    assert sum(x.passed for x in found) <= most


@pytest.mark.quick("*-everything")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_right_gradients_of_options_are_certified_whatever_is_stored(kind: str, dtype: str) -> None:
    how = {**QUICKLY, "dtypes": (dtype,), "clauses": ("A2", "A3", "A4", "A5", "Y13", "Z14")}
    assert certify(right(kind, dtype).attend, **how, backend="torch").passed


@pytest.mark.slow
def test_the_same_without_the_fault_is_certified() -> None:
    assert certify(f"{TARGETS}:right", **QUICKLY).passed


@pytest.mark.slow
def test_a_declared_rounding_model_is_the_only_one() -> None:
    clauses = {**QUICKLY, "clauses": ("A1",)}
    eager = f"{TARGETS}:stores_all"
    detected = certify(eager, **clauses)
    assert detected.passed
    assert detected.conventions["rounding bfloat16"] == "eager"
    (verdict,) = detected.verdicts
    assert f"rounding      bfloat16=eager, as A1 has {verdict.raised}"[:60] in str(detected)
    for model, passes in {"strict": False, "flash": False, "eager": True}.items():
        declared = certify(eager, **clauses, conventions={"rounding": model})
        assert declared.passed == passes
        assert declared.conventions["rounding bfloat16"] == model
        assert not any(verdict.raised for verdict in declared.verdicts)


def test_a_rounding_model_that_is_declared_concerns_16_bits_alone() -> None:
    how = {**QUICKLY, "dtypes": ("float32",), "clauses": ("A1",)}
    declared = certify(f"{TARGETS}:right", **how, conventions={"rounding": "eager"})
    assert declared.passed
    assert {verdict.rounding for verdict in declared.verdicts} == {"strict"}
