"""The page of all clauses says of each what the specification says, and needs no other file."""

import pytest

from spec import CLAUSES
from spec.certification.judging.binding import needs
from spec.certification.pages.clauses_page import Entry, clauses_page
from spec.kinds import KINDS
from tests.pages.parsed import page
from tests.shell import run

pytestmark = pytest.mark.html


@pytest.fixture(scope="module")
def found():
    return page(clauses_page(CLAUSES))


@pytest.fixture(scope="module")
def entries(found):
    return {x.attributes["id"].removeprefix("c-"): x for x in found.all("article")}


@pytest.mark.slow
def test_each_clause_has_its_claim_its_formula_and_its_check(entries):
    assert entries.keys() == CLAUSES.keys()
    for number, clause in CLAUSES.items():
        entry = entries[number]
        text = " ".join(entry.text.split())
        assert clause.sentence in text
        assert f"Evidence: {clause.evidence}." in text
        assert list(entry.all("math")) or not clause.formula or list(entry.all("pre"))


def test_each_known_bug_stands_where_it_must_be_rejected(entries):
    for number, clause in CLAUSES.items():
        text = " ".join(entries[number].text.split())
        known = KINDS[clause.about].mistakes
        assert all(known[x].sentence in text for x in clause.catches if x in known)


def test_the_check_is_the_program_without_its_docstring():
    for clause in CLAUSES.values():
        check = Entry(clause).check
        assert check.startswith("@")
        assert f"def {clause.name}(" in check
        assert '"""' not in check
        assert clause.sentence not in check


@pytest.mark.slow
def test_the_command_writes_it_and_takes_no_words(tmp_path):
    file = tmp_path / "all.html"
    done = run("clauses", "--html", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert file.read_text(encoding="utf-8") == clauses_page(CLAUSES)
    done = run("clauses", "masks", "--html", str(tmp_path / "some.html"))
    assert done.returncode == 2
    assert done.stderr == "error: all clauses are written to a page: leave out 'masks'\n"
    assert [*tmp_path.iterdir()] == [file]


def test_the_needs_of_a_clause_are_a_phrase_about_its_target() -> None:
    assert needs(CLAUSES["F5"]) == "a target that has gradients"
    assert (
        needs(CLAUSES["P2"])
        == "a target that can attend to future keys and takes more than one query"
    )
    assert needs(CLAUSES["C28"]) == "a target that has a fork"
    assert needs(CLAUSES["L10"]) == "nothing"
