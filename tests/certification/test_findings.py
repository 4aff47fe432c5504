"""What a certificate comes to, in a number and in a table, and what is left of it in a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from spec import CLAUSES, certify
from spec.attention.plug.trials import square
from spec.certification import several
from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.verdict import Counterexample, Outcome
from spec.certification.ledger.brief import brief, in_full, numbered
from spec.certification.ledger.causes import ranges
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.judgements import Judgement, unjudged
from spec.certification.ledger.reading import loaded
from spec.certification.results import Results
from spec.certification.settings import Request
from tests.certification.made import certificate, verdict

MUST, SHOULD = "M1", "V9"


@pytest.mark.parametrize(
    ("outcome", "number", "code"),
    [
        ("holds", MUST, 0),
        ("violated", MUST, 1),
        ("violated", SHOULD, 0),
        ("deviates", MUST, 0),
        ("not offered", MUST, 0),
        ("refused", MUST, 0),
        ("blocked", MUST, 3),
        ("crashed", MUST, 3),
        ("crashed", SHOULD, 3),
    ],
)
def test_each_outcome_has_its_exit_code(outcome: Outcome, number: str, code: int) -> None:
    assert (CLAUSES[MUST].force, CLAUSES[SHOULD].force) == ("must", "should")
    found = certificate(verdict("A1", "holds"), verdict(number, outcome))
    assert (found.exit_code, found.passed) == (code, code == 0)
    worse = certificate(verdict("A1", "violated"), verdict(number, outcome))
    assert worse.exit_code == 1


@pytest.mark.parametrize("outcome", ["not offered", "refused", "blocked", "crashed"])
def test_what_was_never_compared_with_the_definition_is_not_certified(outcome: Outcome) -> None:
    assert certificate(verdict("A2", "holds")).exit_code == 3
    assert certificate(verdict("A1", outcome), verdict("A2", "holds")).exit_code == 3
    unasked = verdict("A1", "holds", examples=0)
    assert certificate(unasked, verdict("A2", "holds")).exit_code == 3


def test_a_table_of_several_tells_what_is_violated_from_what_merely_should_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    held, broken = verdict("A1", "holds"), verdict("A2", "violated")
    should = [verdict(SHOULD, "violated"), verdict(SHOULD, "violated", "float16")]
    made = {
        "right": certificate(held),
        "lax": certificate(held, *should),
        "wrong": certificate(held, broken, *should),
    }
    monkeypatch.setattr(several, "certified", lambda request, _: made[request.target])
    assert several.judged({name: Request(name) for name in made}, None, Results()) == 1
    table = capsys.readouterr().out.splitlines()[-4:]
    head, *rows = (line.split() for line in table)
    assert head[2:5] == ["holds", "violated", "should"]
    found = {row[0]: row[-4:-1] for row in rows}
    assert found == {"right": ["1", "0", "0"], "lax": ["1", "0", "2"], "wrong": ["1", "1", "2"]}


def explained(stopped: bool = False) -> Certificate:
    """One with two causes, of which each has an example."""
    words = {"about": "attention", "sentence": "x", "formula": "y", "place": None}
    words |= {"looks_like": ("a mistake",), "reduced": True}
    examples = [
        Counterexample(square("float32", N=n), f"at {n}", script=f"# {n}", **words) for n in (2, 3)
    ]
    causes = [
        Cause((f"N > {n}",), "", "is wrong", counterexample=x) for n, x in enumerate(examples)
    ]
    met = {("A1", "float32"): (1,), ("A2", "float32"): (0, 1)}
    region = Region.outside(causes, "", passed=not stopped)
    found = [verdict(number, "violated") for number in ("A1", "A2")]
    asked = Request("mine.py:attend", profile="quick", where="causal", compiled="static", seed=5)
    said = {"notes": ("a note",), "advice": ("advice",), "command": "python -m spec"}
    diagnosis = Diagnosis((*causes,), region, met, programs=7)
    return certificate(*found, request=asked, diagnosis=diagnosis, **said)


def test_a_certificate_that_is_read_has_the_examples_of_its_causes(tmp_path: Path) -> None:
    kept = explained()
    kept.save(tmp_path / "c.json")
    found = loaded(tmp_path / "c.json")
    for one in (kept, found):
        examples = [v.counterexample for v in one.verdicts]
        assert [x.message for x in examples if x is not None] == ["at 3", "at 2"]
        assert [x.script for x in examples if x is not None] == ["# 3", "# 2"]
    assert found.to_json() == kept.to_json()


@pytest.mark.parametrize("stopped", [False, True])
def test_a_region_that_is_read_was_judged_as_it_was(stopped: bool, tmp_path: Path) -> None:
    kept = explained(stopped)
    kept.save(tmp_path / "c.json")
    assert loaded(tmp_path / "c.json").region == kept.region
    assert kept.region.passed is not stopped
    for region in (Region((("N > 1",),), "N <= 1", ("L1",), False), Region()):
        assert Region.from_json(json.loads(json.dumps(vars(region)))) == region


def test_a_brief_certificate_says_what_was_judged_and_in_which_way() -> None:
    kept = explained()
    found = in_full(json.loads(json.dumps(brief(kept))), CLAUSES)
    same = ("name", "about", "profile", "seed", "command", "where", "compiled", "notes", "advice")
    same += ("specification", "conventions", "declares", "versions", "programs", "region")
    assert {name: getattr(found, name) for name in same} == {
        name: getattr(kept, name) for name in same
    }
    assert (kept.compiled, kept.where, kept.seed, kept.programs) == ("static", "causal", 5, 7)
    assert found.exit_code == kept.exit_code
    assert outcomes(found) == outcomes(kept)


def outcomes(found: Certificate) -> list[Any]:
    return [(v.clause, v.dtype, v.outcome) for v in found.verdicts]


def test_ranges_are_read_as_they_are_written() -> None:
    numbers = ("A1", "A2", "A3", "A5", "M9", "M10", "Q1")
    assert ranges(numbers) == "A1-A3, A5, M9-M10, Q1"
    assert tuple(numbered(ranges(numbers))) == numbers


@pytest.mark.slow
def test_a_script_that_nobody_reads_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    target, few = "tests.targets:elementwise", ("float32",)
    found = certify(target, profile="quick", clauses=("A2",), dtypes=few)
    monkeypatch.setattr("spec.certification.ledger.brief.LONG", 10)
    (kept,) = (cause["counterexample"] for cause in brief(found)["causes"])
    assert kept["script"] == ""
    assert kept["problem"]


@pytest.mark.parametrize(("explained", "open_"), [(("C2",), []), ((), ["C2"])])
def test_a_clause_that_crashed_is_explained_by_a_cause_of_which_something_is_said(
    explained: tuple[str, ...], open_: list[str]
) -> None:
    cause = Cause(("causal",), "", "the process dies of SIGABRT", clauses=explained)
    found = certificate(verdict("C2", "crashed"), diagnosis=Diagnosis((cause,)))
    judgement = Judgement("where causal, the process dies of SIGABRT", "fault", "It dies.")
    assert [*unjudged(found, [judgement])] == [f"nobody says what it is: {x}" for x in open_]


def test_without_causes_the_first_ten_failures_stand_in_full_and_the_others_are_counted() -> None:
    must = [f"A{n}" for n in range(1, 13)]
    failing = [SHOULD, *must]
    verdicts = [verdict(n, "violated", message=f"it is {n}") for n in failing]
    text = str(certificate(*verdicts))
    assert [line for line in text.splitlines() if line.startswith("    it is ")] == [
        f"    it is {n}" for n in must[:10]
    ]
    assert "\n3 more clauses fail: --json FILE or --report FOLDER has all failures\n" in text
    assert "more clause" not in str(certificate(*verdicts[:10]))
    assert "\n1 more clause fails: " in str(certificate(*verdicts[:11]))


@pytest.mark.parametrize(("count", "words"), [(1, "the only problem there"), (2, "all 2 problems")])
def test_a_single_problem_is_not_in_the_plural(count: int, words: str) -> None:
    told = {"clauses": ("A1",), "dtypes": ("float32",), "problems": (count, count)}
    found = Diagnosis(causes=(Cause((), "", "is wrong", **told),))  # type: ignore[arg-type]
    said = str(certificate(verdict("A1", "violated", causes=(0,)), diagnosis=found))
    assert f"fails 1 clause: A1 [float32]; on {words}" in " ".join(said.split())
