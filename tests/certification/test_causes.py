"""One fault is one cause: where it is, in words, what is left, and the smallest problem there."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES, about, certify
from spec.attention.mistakes import MISTAKES
from spec.attention.mistakes.making import RIGHT, at_once, program
from spec.backends import Unsuitable
from spec.certification.ledger.certificate import Certificate
from spec.kinds import KINDS
from spec.sizes import Sizes
from tests.night import deep
from tests.shell import run

QUICK = {"profile": "quick", "dtypes": ("float64", "float32")}
UNEVEN = "a mask whose entries differ"


def judged(name: str, **options: Any) -> Certificate:
    """The certificate of a mistake, held to section A and to the clauses that name it."""
    naming = (clause.number for clause in about("attention").values() if name in clause.catches)
    return certify(MISTAKES[name].target, clauses=("A", *naming), **{**QUICK, **options})


@pytest.mark.parametrize(
    ("name", "features"),
    [
        deep("ignores_causality", {"a key in the future"}),
        deep("reads_only_128_keys", {"M > 128"}),
        deep("uses_the_mask_of_the_first_batch", {"a mask per sequence", UNEVEN}),
        deep("drops_the_sign_of_the_scale", {"a scale below zero"}),
    ],
)
def test_one_fault_is_one_cause(name: str, features: set[str]) -> None:
    certificate = judged(name)
    (cause,) = certificate.causes
    assert {*cause.features} == features
    wrong, seen = cause.problems
    assert 3 * wrong >= seen
    assert certificate.region.passed


@pytest.mark.parametrize(
    ("name", "lens", "clauses"),
    [
        deep("takes_a_rough_tangent", "tanh=approximate", None),
        deep("rewards_keys_that_lie_ahead", "slopes-ahead=signed", None),
        deep("counts_places_from_the_end", "slopes-alignment=bottom-right", None),
        deep("ignores_causality", "", None),  # which no choice mends
        ("tiles_key_heads", "grouping=interleaved", "A1"),
        deep("tiles_key_heads", "grouping=interleaved", None),
        deep("centres_windows_at_the_end", "window-alignment=bottom-right", None),
    ],
)
def test_a_convention_that_is_a_part_of_the_problem_mends_as_others_do(
    name: str, lens: str, clauses: str | None
) -> None:
    few: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "clauses": clauses}
    (cause,) = (certificate := certify(MISTAKES[name].target, **few, seed=2)).causes
    assert 3 * cause.problems[0] >= cause.problems[1]
    assert (lens in cause.lens, bool(lens)) == (True, bool(cause.lens))
    assert certificate.region.passed


@pytest.mark.deep
def test_a_cause_that_a_convention_mends_stays_beside_the_next() -> None:
    certificate = judged("fills_with_minus_1e30", profile="standard")
    first, second = certificate.causes
    assert first.features == ("a fully masked query",)
    assert "fully-masked=uniform" in first.lens
    assert second.features == ("a key that survives a fill of -1e30",)
    assert len({*second.problems}) == 1  # all of them are wrong
    assert certificate.region.passed


def test_what_depends_on_the_last_call_is_no_set_of_problems() -> None:
    certificate = judged("remembers_answers_by_shape", dtypes=("float32",))
    (cause,) = certificate.causes
    assert cause.failure == "a result depends on earlier calls"
    assert not certificate.region.passed
    assert "correct on none" in str(certificate)


@pytest.mark.deep
def test_a_wrong_gradient_says_nothing_of_the_output() -> None:
    certificate = judged("takes_one_head_of_each_group", dtypes=("float32",))
    (cause,) = certificate.causes
    assert (cause.asked, cause.features) == ("gradients", ("grouped heads",))
    assert "gradients are wrong" in cause.sentence
    assert certificate.region.sentence == "not (gradients asked for and grouped heads)"


def test_outside_of_its_cause_a_fault_is_certified_and_says_where() -> None:
    certificate = judged("ignores_causality", where="not causal")
    assert certificate.passed
    assert (certificate.region.sentence, certificate.region.passed) == ("not causal", True)
    assert str(certificate).startswith("ignores_causality: certified (quick) where not causal\n")
    assert "not causal" in certificate.command
    absent = [v for v in certificate.verdicts if v.outcome == "not offered"]
    assert any("problems where not causal" in v.message for v in absent)
    assert judged("ignores_causality", where="causal", fail_fast=True).exit_code == 1


@pytest.mark.deep
def test_a_region_is_where_it_holds() -> None:
    """The sentence of the region is one that can be asked for, and there it is certified."""
    region = judged("drops_the_tail", seed=1).region
    assert judged("drops_the_tail", where=region.sentence, seed=5).passed


def test_a_sentence_that_is_none_is_told_in_a_line() -> None:
    with pytest.raises(Unsuitable, match="--where 'sunny': 'sunny' is no condition"):
        judged("returns_zero", where="sunny")
    done = run("certify", "tests.targets:right", "--where", "N <")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_right_function_has_no_causes() -> None:
    certificate = certify("tests.targets:right", clauses=("A",), **QUICK)
    assert certificate.causes == ()
    assert certificate.region.passed


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("attention", "cache")])
def test_every_kind_has_causes(kind: str) -> None:
    known = KINDS[kind]
    caught = sorted(CLAUSES[known.definition].catches)
    mistake = next(known.mistakes[name] for name in caught if name in known.mistakes)
    dtypes = ("float64",) if "float64" in mistake.dtypes else mistake.dtypes
    few = {"clauses": (known.definition,), "dtypes": dtypes, "profile": "standard"}
    certificate = certify(mistake.target, kind=kind, **few)
    assert 1 <= len(certificate.causes) <= 3
    assert certificate.causes[0].counterexample is not None


def sees_two_keys_ahead(sizes: Sizes) -> np.ndarray:
    """A step that is wrong where causality is asked for, and like no known mistake."""
    return np.arange(sizes.M) <= np.arange(sizes.N)[:, None] + 2


def beside(name: str, step: str, **options: Any) -> Certificate:
    """The certificate of a known mistake in one step, with two keys too many in another."""
    two = replace(RIGHT, **{step: MISTAKES[name].replaced[step]}, past=sees_two_keys_ahead)
    return certify(program(two, "forward"), **{"clauses": ("A", "C"), **QUICK, **options})


@pytest.mark.deep
def test_a_second_fault_is_told_where_a_known_one_is_everywhere() -> None:
    name = "normalises_queries_and_keys"
    certificate = beside(name, "scores")
    first, second = certificate.causes
    assert first.features == ("several scores",)  # a sink makes another of one key
    assert "a key in the future" in second.features
    assert second.besides.startswith(f"{name} (BUG-14")
    assert "wrong in another way" in second.sentence
    assert f"but for that, wrong as {name}" in str(certificate)
    assert certificate.region.sentence == "not several scores"
    one = certify(MISTAKES[name].target, clauses=("A", "C"), **QUICK)
    assert len(one.causes) == 1


@pytest.mark.parametrize(
    "few", [deep({"clauses": ("A1",), "dtypes": ("float32",), "seed": 2}), deep({"seed": 1})]
)
def test_a_second_fault_is_a_cause_like_any_where_the_first_one_is_right(few: Any) -> None:
    certificate = beside("scales_twice", "scale", **few)
    first, second = sorted(certificate.causes, key=lambda x: "a key in the future" in x.features)
    assert "a scale other than 1" in first.features
    assert {*first.features} <= {"several scores", "a scale other than 1"}  # A1 has few single keys
    assert "a key in the future" in second.features
    assert {first.besides, second.besides} == {""}
    assert certificate.region.passed


def one_head(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Attention without any option."""
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1]))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def keys_first(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return one_head(b, a, c)


def values_second(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return one_head(a, c, b)


@pytest.mark.parametrize(
    ("target", "lens"),
    [
        (keys_first, "correct if query and key change places"),
        (values_second, "correct if key and value change places"),
        (MISTAKES["leaves_scores_unscaled"].target, "correct if the scale is given, 1 / sqrt(D)"),
        deep(MISTAKES["exponentiates_in_base_two"].target, ""),
        deep(MISTAKES["swaps_queries_and_keys"].target, ""),  # only where lengths are equal
    ],
)
def test_what_mends_it_is_told(target, lens):
    (cause,) = certify(target, clauses=("A",), profile="quick", dtypes=("float64",)).causes
    assert cause.lens == lens


@pytest.mark.deep
def test_two_known_mistakes_are_named_where_one_of_them_is_everywhere() -> None:
    """Together they answer as the target does, each alone does not."""
    both = at_once([MISTAKES[x] for x in ("sees_one_key_ahead", "drops_the_lightest_key")])
    certificate = certify(both, clauses=("A", "C"), **QUICK)
    first, second = certificate.causes
    assert first.features == ("M > 1",)
    assert second.features == ("a key in the future", "not positions")
    assert second.besides.startswith("drops_the_lightest_key (")
    assert second.counterexample is not None
    (line,) = second.counterexample.looks_like
    assert line.startswith("sees_one_key_ahead (")
    assert certificate.region.sentence == "M <= 1"


@pytest.mark.deep
def test_a_known_cause_takes_in_what_it_is_but_a_part_of() -> None:
    """Where N > 1 the one mistake shows first; a scale of zero is infinite by nature."""
    both = at_once([MISTAKES[x] for x in ("divides_by_the_scale", "caps_the_slopes_too")])
    causes = certify(both, clauses=("A", "Y"), **{**QUICK, "profile": "standard"}).causes
    assert [{*cause.features} for cause in causes] == [
        {"several scores", "a scale other than 1"},
        {"a scale of zero"},
        {"a soft-cap", "ALiBi slopes", "several scores"},
    ]


def test_mistakes_of_one_step_are_not_at_once() -> None:
    assert at_once([MISTAKES["scales_twice"], MISTAKES["scales_by_key_count"]]) is None
    assert at_once([MISTAKES["scales_twice"], MISTAKES["squeezes_axes_of_one"]]) is None


@pytest.mark.deep
def test_a_fault_of_chance_is_one_cause_however_many_clauses_see_it() -> None:
    """Clauses that judge crowds see it in some problems and not in others."""
    target, crowds = KINDS["dropout"].mistakes["ignores_the_seed"].target, ("D15", "D24")
    options = {**QUICK, "dtypes": ("float32",), "seed": 16}  # for which D24 sees it as well
    certificate = certify(target, kind="dropout", clauses=crowds, **options)
    (cause,) = certificate.causes
    assert (cause.drawn, cause.features) == (True, ())
    assert {*cause.clauses} <= {*cause.beside} == {*crowds}
