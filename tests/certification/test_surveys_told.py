"""What a worker may tell of its target before it judges, and of causes after that."""

import json
from dataclasses import replace

import pytest

from spec import CLAUSES
from spec.certification.doors import requested
from spec.certification.isolation.protocol import Interfered, read_diagnosis
from spec.certification.isolation.surveying import read_survey
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.verdict import Verdict, verdict_to_json

ITEM = ("A1", "float32")
VERDICT = verdict_to_json(Verdict(*(ITEM[0], CLAUSES["A1"].name, "must"), ITEM[1], "holds", 4, 0.5))
ANSWER = {"verdict": VERDICT, "notes": [], "after": 0.1, "order": "x"}


@pytest.fixture(scope="module")
def surveyed():
    """A request, and what a worker says of a right function."""
    request = requested("tests.targets:right", {"profile": "quick", "dtypes": "float32,float16"})
    examiner = Examiner.of(request.target, request)
    told = {"survey": examiner.survey().to_json(), "probed": examiner.probed.to_json()}
    return request, json.loads(json.dumps(told))


def test_a_survey_of_all_that_is_selected_is_read(surveyed):
    request, told = surveyed
    survey = read_survey(told, request, CLAUSES)
    assert (survey.name, len(survey.items) > 100) == ("right", True)
    assert survey.settled


def settled_as(**fields):
    return lambda told: told["survey"]["settled"][0].update(fields)


def holds_all(told):
    """As a forger would like to have it."""
    items, told["survey"]["items"] = told["survey"]["items"], []
    told["survey"]["settled"] += [
        {**VERDICT, "clause": n, "name": CLAUSES[n].name, "force": CLAUSES[n].force, "dtype": dtype}
        for n, dtype in items
    ]


@pytest.mark.parametrize(
    "change",
    [
        holds_all,
        settled_as(outcome="holds", examples=4),
        settled_as(name="x"),
        settled_as(force="should", clause="A1"),
        settled_as(clause="../A1"),
        lambda told: told["survey"]["items"].pop(),
        lambda told: told["survey"]["items"].append(["A1", "float32"]),
        lambda told: told["survey"]["items"].append(["A1", "float64"]),
        lambda told: told["survey"]["settled"].pop(),
        lambda told: told["survey"]["order"].reverse(),
        lambda told: told["survey"].update(about="astrology"),
        lambda told: told["survey"].update(about="layer"),
        lambda told: told["survey"].update(definition="A2"),
        lambda told: told["survey"].update(command="python -m spec certify another:target"),
        lambda told: told["survey"].update(deviations={"A2": "it is known"}),
        lambda told: told["survey"].update(strict=["A2"]),
        lambda told: told["survey"].update(programs=-1),
        lambda told: told["survey"].update(notes=[1]),
        lambda told: told["survey"].update(surprise=1),
        lambda told: told["survey"].pop("items"),
        lambda told: told["probed"].update(by_dtype={}),
        lambda told: told["probed"]["by_dtype"]["float32"].pop("palette"),
        lambda told: told["probed"]["by_dtype"]["float32"].update(lost=1),
        lambda told: told["probed"].update(refusals=[{"what": "x"}]),
        lambda told: told.update(probed=None),
    ],
)
def test_no_other_survey_is(change, surveyed):
    request, told = surveyed
    told = json.loads(json.dumps(told))
    change(told)
    with pytest.raises(Interfered):
        read_survey(told, request, CLAUSES)


def test_what_a_person_declares_may_deviate(surveyed):
    request, told = surveyed
    told = json.loads(json.dumps(told))
    told["survey"]["deviations"] = {"A2": "declared: it is known"}
    declared = replace(request, deviations={"A2": "it is  known"})
    told["survey"]["command"] = declared.command()
    assert read_survey(told, declared, CLAUSES).deviations
    with pytest.raises(Interfered):
        read_survey(told, request, CLAUSES)


@pytest.mark.parametrize(
    "changes",
    [
        {"met": [["A1", "float32", [0], ""]]},
        {"programs": -1},
        {"causes": None},
        {"met": [["Q9"]]},
        {"grades": {"float32": "eager"}},
    ],
)
def test_a_diagnosis_is_of_causes_that_it_names(changes):
    region = {"features": [], "sentence": "", "but": [], "passed": True}
    found = {"causes": [], "region": region, "met": [], "programs": 0}
    found |= {"grades": {}, "advice": None, "failed": ""}
    assert read_diagnosis({"diagnosis": found, "beside": 0.0}, CLAUSES).region.passed
    with pytest.raises(Interfered):
        read_diagnosis({"diagnosis": found | changes, "beside": 0.0}, CLAUSES)


# Ends
