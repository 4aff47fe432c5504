"""Clauses come and go by rule: a number keeps its meaning, and nobody is surprised by a `must`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from spec import CLAUSES, certify, version
from spec.backends import Unsuitable
from spec.certification.contents import markdown, table, whole
from spec.certification.ledger import comparison
from spec.certification.ledger.brief import brief
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.reading import loaded
from spec.certification.settings import selected
from spec.certification.target.declared import check_deviations
from spec.clause import Clause
from spec.version import CURRENT, FIRST, RETIRED, VERSIONS, Retired
from tests import targets

CALENDAR = r"20\d\d\.(0[1-9]|1[0-2])"
NEXT, LATER = "2999.01", "2999.12"
A1, V2 = CLAUSES["A1"], CLAUSES["V2"]
FEW = {"profile": "quick", "dtypes": ("float32",), "clauses": ("V2",)}


def wrong(
    clauses: Mapping[str, Clause], retired: Mapping[str, Retired], versions: Sequence[str]
) -> Iterator[str]:
    """A line for each clause, and each retired number, that does not keep the rule."""
    first, *_, current = versions if len(versions) > 1 else (*versions, *versions)
    known = {*clauses, *retired}
    for number, clause in clauses.items():
        if clause.since not in versions:
            yield f"{number} is of no version"
        if clause.force == "must" and clause.since == current != first:
            yield f"{number} is new, so a should for one version"
        if clause.force == "must" and clause.until is not None:
            yield f"{number} is retired, so a should for one version"
        if clause.until not in (None, current):
            yield f"{number} has had its last version"
        if clause.until is None and clause.superseded is not None:
            yield f"{number} has a successor and no last version"
        if clause.until is not None and not (clause.superseded or "\nRetired: " in clause.text):
            yield f"{number} has neither a successor nor a reason"
    for number, gone in retired.items():
        if not gone.superseded and not gone.reason:
            yield f"{number} has neither a successor nor a reason"
        if number in clauses:
            yield f"{number} is used again"
        if gone.until not in versions[:-1]:
            yield f"{number} is not gone yet"
    after = [x.superseded for x in (*clauses.values(), *retired.values()) if x.superseded]
    yield from (f"there is no {number}" for number in after if number not in known)


def with_clause(**fields: object) -> dict[str, Clause]:
    clause = replace(V2, **fields)  # type: ignore[arg-type]
    return {"A1": A1, clause.number: clause}


def test_versions_are_years_and_months_in_order() -> None:
    assert all(re.fullmatch(CALENDAR, x) for x in VERSIONS)
    assert list(VERSIONS) == sorted({*VERSIONS})
    assert (VERSIONS[0], VERSIONS[-1]) == (FIRST, CURRENT)


def test_the_specification_keeps_the_rule() -> None:
    assert [*wrong(CLAUSES, RETIRED, VERSIONS)] == []


@pytest.mark.parametrize(
    ("fields", "retired", "line"),
    [
        ({"since": "1999.01"}, {}, "V2 is of no version"),
        ({"since": NEXT}, {}, "V2 is new, so a should for one version"),
        ({"until": NEXT, "superseded": "A1"}, {}, "V2 is retired, so a should for one version"),
        (
            {"until": FIRST, "superseded": "A1", "force": "should"},
            {},
            "V2 has had its last version",
        ),
        ({"superseded": "A1"}, {}, "V2 has a successor and no last version"),
        ({"until": NEXT, "force": "should"}, {}, "V2 has neither a successor nor a reason"),
        ({"until": NEXT, "force": "should", "superseded": "V99"}, {}, "there is no V99"),
        ({}, {"V3": Retired(FIRST)}, "V3 has neither a successor nor a reason"),
        ({}, {"V2": Retired(FIRST, "A1")}, "V2 is used again"),
        ({}, {"V3": Retired(NEXT, "A1")}, "V3 is not gone yet"),
        ({}, {"V3": Retired(FIRST, "V99")}, "there is no V99"),
    ],
)
def test_what_does_not_keep_it_is_seen(
    fields: dict[str, object], retired: dict[str, Retired], line: str
) -> None:
    assert [*wrong(with_clause(**fields), retired, (FIRST, NEXT))] == [line]


def test_what_comes_and_goes_by_the_rule_is_not() -> None:
    new = replace(V2, number="V3", since=NEXT, force="should")
    going = with_clause(until=NEXT, superseded="V3", force="should") | {"V3": new}
    assert [*wrong(going, {}, (FIRST, NEXT))] == []
    gone = {"V2": Retired(NEXT, "V3"), "V4": Retired(FIRST, reason="It is not so.")}
    assert [*wrong({"A1": A1, "V3": replace(new, force="must")}, gone, (FIRST, NEXT, LATER))] == []


def test_clauses_say_since_when_and_until_when_they_are() -> None:
    clauses = with_clause(since="2027.05", until="2028.01", superseded="V3", force="should")
    span = "since 2027.05, until 2028.01, then V3"
    assert f"[should, {span}, checked]" in " ".join(table(clauses).split())
    assert f"*(should, {span})*" in markdown(clauses)
    assert f"\nversions  {span}\n" in whole(clauses["V2"])
    assert "versions" not in whole(A1)
    assert "since" not in table({"A1": A1})


@pytest.mark.parametrize(
    ("gone", "line"),
    [
        (Retired(FIRST, "V2"), f"clause V9 was retired after version {FIRST}: use V2"),
        (Retired(FIRST, reason="no."), f"clause V9 was retired after version {FIRST}: no."),
    ],
)
def test_a_retired_number_leads_to_what_replaces_it(
    gone: Retired, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "RETIRED", {"V9": gone})
    for ask in (
        lambda: selected({"V2": V2}, ("V9",)),
        lambda: check_deviations({"V9": "why"}, {"V2": V2}, "attention"),
    ):
        with pytest.raises(Unsuitable) as told:
            ask()
        assert str(told.value) == line


def test_a_certificate_says_its_version_and_which_clause_will_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLAUSES, "V2", replace(V2, until=CURRENT, superseded="A1"))
    found = certify(targets.plain, **FEW)
    assert found.notes[-1] == f"V2 is retired: until {CURRENT}, then A1"
    for written in (found.to_json(), brief(found)):
        assert written["specification"] == CURRENT
        del written["specification"]  # as it is in older ones
        (tmp_path / "old.json").write_text(json.dumps(written))
        assert loaded(tmp_path / "old.json").specification == FIRST


def test_certificates_of_two_versions_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    found = certify(targets.plain, **FEW)
    without = tuple(v for v in found.verdicts if v.clause != "V2")
    fewer = replace(found, verdicts=without)
    later = replace(found, specification=NEXT)
    what = f"V2 {V2.name} [float32]:"
    assert compared(fewer, found) == f"{what} absent -> holds"
    monkeypatch.setitem(CLAUSES, "V2", replace(V2, since=NEXT))
    head, line = compared(fewer, later).splitlines()
    assert head == f"specification: {CURRENT} -> {NEXT}"
    assert line == f"{what} not in {CURRENT}, new in {NEXT} -> holds"
    monkeypatch.setattr(comparison, "resolved", lambda _: {"A1": A1})
    monkeypatch.setitem(RETIRED, "V2", Retired(FIRST, "A1"))  # type: ignore[arg-type]
    line = compared(found, replace(later, verdicts=without)).splitlines()[1]
    assert line == f"{what} holds -> not in {NEXT}, retired after {FIRST}, use A1"
