"""Incidents are defined where a reader finds them, and the file tells what is in the catalogues."""

import re
from typing import Any

import pytest

from spec.kinds import KINDS
from tests.incidents import INCIDENTS, ROOT, entries, filled, mistakes

TEXT = INCIDENTS.read_text()
ENTRIES = entries(TEXT)
MISTAKES = [x for kind in KINDS.values() for x in kind.mistakes.values()]
LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")


def test_it_lists_the_mistakes_there_are() -> None:
    assert filled(TEXT) == TEXT, "python -m tests.incidents"


SYSTEMS = ("einsum-layer", "list-of-heads", "single-head", "text-classifier", "valid-lengths")


def test_every_class_is_defined_once() -> None:
    assert sorted(ENTRIES) == [*(f"BUG-{i:02d}" for i in range(1, 47)), *SYSTEMS]
    assert TEXT.count("\n### ") == len(ENTRIES)


def test_every_mistake_names_a_class_that_is_defined() -> None:
    assert {x.incident for x in MISTAKES} - {"plausible"} <= {*ENTRIES}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_class_without_mistakes_says_why(name: str) -> None:
    written = ENTRIES[name][1]
    assert bool(mistakes(name)) != (written.startswith("none") and len(written.split()) > 3)


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in SYSTEMS])
def test_a_class_cites_one_to_three_reports(name: str) -> None:
    words, _, reported = ENTRIES[name][0].partition("\n- Reported: ")
    assert len(words.splitlines()) == 2, "a title and a line"
    links = LINK.findall(reported)
    assert 1 <= len(links) <= 3
    for report, address in links:
        repository, number = report.split("#")
        assert address == f"https://github.com/{repository}/issues/{number}"


def test_every_place_that_it_links_to_exists() -> None:
    places = [address for _, address in LINK.findall(TEXT) if not address.startswith("http")]
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in TEXT.splitlines()}
    for place in places:
        known = place[1:] in {*ENTRIES, *headings}
        assert known if place.startswith("#") else (INCIDENTS.parent / place).exists(), place


@pytest.mark.parametrize("mistake", [x for x in MISTAKES if x.incident != "plausible"][::40])
def test_a_mistake_says_where_its_class_is_defined(mistake: Any) -> None:
    name, _, path = mistake.source.replace(",", "").split()[:3]
    assert name == mistake.incident
    assert ROOT / path == INCIDENTS
