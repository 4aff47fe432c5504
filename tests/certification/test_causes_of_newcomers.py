"""What newcomers get wrong is named, and no condition is said to decide that does not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import about, certify
from spec.certification.judging.cause import Cause
from spec.certification.ledger.certificate import Certificate
from spec.kinds import KINDS
from spec.trial import broken
from tests.shell import started
from tests.targets import newcomers

ATTENTION = KINDS["attention"]
CAST = "correct if the output is cast to the dtype of the queries"


def names(cause: Cause) -> list[str]:
    example = cause.counterexample
    return [line.partition(" ")[0] for line in example.looks_like] if example else []


def put(score: float, dtype: str) -> Any:
    """A query with two keys, one of which has a score."""
    core = ATTENTION.core(dtype)
    key = np.zeros((1, 1, 2, 1))
    key[..., 0, 0] = score
    one, values = np.ones((1, 1, 1, 1)), np.array([[[[1.0], [2.0]]]])
    return core.but(q=one, k=key, v=values, dout=0 * one)


@pytest.fixture(scope="module")
def leaves_the_maximum() -> Certificate:
    return certify(
        newcomers.leaves_the_maximum, profile="quick", dtypes=("float64", "float32", "float16")
    )


@pytest.mark.slow
def test_a_softmax_without_the_maximum_is_one_cause_in_all_formats(
    leaves_the_maximum: Certificate,
) -> None:
    (cause,) = leaves_the_maximum.causes
    assert cause.features == ("scores out of the range of exp",)
    assert {*cause.dtypes} == {"float64", "float32", "float16"}
    assert names(cause) == ["skips_the_maximum"]
    assert leaves_the_maximum.region.passed


@pytest.mark.slow
def test_a_condition_that_passing_problems_refute_says_how_often_it_holds(
    leaves_the_maximum: Certificate,
) -> None:
    (cause,) = leaves_the_maximum.causes
    wrong, inside = cause.problems
    assert 0 < wrong < inside
    lines = " ".join(str(leaves_the_maximum).split())
    said = f"NaN in {wrong} of {inside} problems with scores out of the range of exp Subtract the"
    assert said in lines


@pytest.mark.quick("100*")
@pytest.mark.parametrize(("score", "dtype"), [(100, "float32"), (12, "float16"), (800, "float64")])
def test_a_known_bug_is_named_in_the_format_in_which_it_shows(score: float, dtype: str) -> None:
    clause = about("attention")["A1"]
    record = ATTENTION.load(newcomers.leaves_the_maximum, backend="numpy")
    usual = put(score / 2, dtype)

    def fits(known: Any) -> bool:
        return broken(clause, known, usual) is None

    lines = ATTENTION.looks_like((clause,), record, put(score, dtype), fits)
    assert [line.partition(" ")[0] for line in lines] == ["skips_the_maximum"]
    assert ATTENTION.looks_like((clause,), record, put(score, dtype), lambda _: False) == ()
    assert ATTENTION.looks_like((clause,), record, usual) == ()


@pytest.fixture(scope="module")
def unscaled_in_float64() -> Certificate:
    return certify(newcomers.unscaled_in_float64, profile="quick", dtypes=("float32",))


@pytest.mark.slow
def test_a_wrong_dtype_hides_no_other_mistake(unscaled_in_float64: Certificate) -> None:
    dtype, scale = unscaled_in_float64.causes
    assert (dtype.lens, dtype.failure) == (CAST, "the output has the wrong dtype")
    assert names(scale) == ["leaves_scores_unscaled"]
    assert "a scale other than 1" in scale.features
    said = " ".join(str(unscaled_in_float64).split())
    assert "with the change of cause 1, correct on all other problems: all 50 clauses pass" in said
    assert "correct on none" not in said


@pytest.mark.slow
def test_the_script_of_a_mistake_behind_a_wrong_dtype_shows_numbers(
    unscaled_in_float64: Certificate, tmp_path: Path
) -> None:
    _, scale = unscaled_in_float64.causes
    example = scale.counterexample
    assert example is not None
    assert example.message.startswith("with the change of cause 1, at (0, 0, 0, 0): got ")
    assert example.place is not None
    (tmp_path / "cause.py").write_text(example.script)
    done = started("cause.py", program=(), cwd=tmp_path)
    assert done.returncode == 1
    assert f"got {example.place.got}"[:12] in done.stdout


@pytest.mark.slow
def test_nowhere_is_such_a_target_right_as_it_is(unscaled_in_float64: Certificate) -> None:
    assert unscaled_in_float64.region.sentence == ""
    assert unscaled_in_float64.region.passed


@pytest.mark.deep
def test_a_wrong_dtype_is_mended_where_rounding_is_judged_as_if_it_were_right() -> None:
    target = newcomers.leaves_the_maximum_in_float64
    certificate = certify(target, profile="quick", dtypes=("float32", "float16"))
    dtype, maximum = certificate.causes
    assert dtype.lens == CAST
    assert names(maximum) == ["skips_the_maximum"]
    assert certificate.region.passed


@pytest.mark.slow
def test_two_mistakes_are_two_causes_and_each_is_named() -> None:
    target = newcomers.scales_and_fills_wrongly
    certificate = certify(target, profile="quick", dtypes=("float32",))
    scale, fill = sorted(certificate.causes, key=lambda x: "a fully masked query" in x.features)
    assert "divides_by_width" in names(scale)
    assert "adds_minus_a_billion" in names(fill)
    assert "a fully masked query" in fill.features
    assert certificate.region.passed


@pytest.mark.deep
def test_three_mistakes_are_not_told_as_one_without_a_condition() -> None:
    target = newcomers.scales_fills_and_starts_wrongly
    certificate = certify(target, profile="quick", dtypes=("float32",))
    assert len(certificate.causes) == 3
    assert all(cause.features for cause in certificate.causes)
    # At D = 1 the scale is that of a known bug; elsewhere the numbers are others.
    assert not any("scales_by_width_plus_one" in names(cause) for cause in certificate.causes)
