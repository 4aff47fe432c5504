"""Each guide links to the glossary where it first uses a word that a newcomer does not know."""

import pytest

from docs.generator.guides import rewritten
from docs.generator.naming import slug
from docs.generator.terms import Glossary
from tests.walked import ROOT
from tests.words.guides import ANCHORS, GUIDES, TERMS, known, linked, uses

REPAIR = "python -m tests.words.guides"


@pytest.mark.parametrize("path", GUIDES)
def test_the_first_use_of_a_word_is_a_link(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    found = [*uses(text)]
    assert found
    assert not [text[start:end] for _, start, end, done in found if not done], REPAIR


def test_the_glossary_has_all_of_these_words() -> None:
    assert all(known().forms.get(term.lower()) == slug(term) for term in TERMS)
    assert len(ANCHORS) == len(TERMS)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Clauses, and a clause.", "[Clauses](glossary.md#clause), and a clause."),
        ("# A clause\n\nIts clauses.", "# A clause\n\nIts [clauses](glossary.md#clause)."),
        ("| clause |\n\n`clause`, [clause](x.md)", None),
        ("```\na clause\n```\n\n    a clause", None),
        ("A fully\nmasked row.", "A [fully\nmasked row](glossary.md#fully-masked-query)."),
        ("A [clause](glossary.md#clause), a clause.", None),
    ],
)
def test_a_use_that_is_no_link_is_found(text: str, want: str | None) -> None:
    assert linked(text) == (want or text)


def test_the_site_links_a_word_once_where_a_person_linked_it() -> None:
    page = rewritten("A [clause](glossary.md#clause), two clauses.", "docs/how.md", "guides/how.md")
    assert page == "A [clause](../glossary.md#clause){ .term }, two clauses."
    assert Glossary("## Clause\nAlso: clauses.\n").linked(page, "guides/how.md") == page
