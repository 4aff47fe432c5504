"""The table of conventions by library: its page is its data, and its words are those there are."""

import re

import pytest

from spec.attention.conventions import CONVENTIONS
from spec.attention.deployed import LIBRARIES
from spec.attention.libraries import OPTIONS, QUESTIONS, Library
from spec.attention.options import PARAMETERS
from tests.options import PAGE, page

each = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
UNDECLARED = {"fully-masked-lse": {"finite"}}  # answers for which there is no word: some number
LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/blob/[0-9a-f]{40}/[\w./-]+\.\w+")


def test_the_page_is_what_the_data_says() -> None:
    assert PAGE.read_text() == page(), "python -m tests.options"


def test_a_newcomer_reads_it_at_once() -> None:
    assert len(page().splitlines()) <= 135


def test_names_are_unique() -> None:
    names = [library.name for library in LIBRARIES]
    assert len({*names}) == len(names)


@each
def test_what_a_library_has_and_says_are_options_and_choices(library: Library) -> None:
    assert {*library.called} <= {*OPTIONS}
    assert {*library.says} <= {*QUESTIONS}
    for name, choices in library.says.items():
        assert choices
        assert {*choices} <= {*QUESTIONS[name].choices}, name


@each
def test_a_library_says_nothing_about_what_it_does_not_have(library: Library) -> None:
    """The output of a fully masked row is a question to every library."""
    about = {QUESTIONS[name].about for name in library.says if name != "fully-masked"}
    assert about <= {*library.called}


@each
def test_a_row_can_be_checked(library: Library) -> None:
    assert library.sources
    for source in library.sources:
        assert re.fullmatch(r"[0-9a-f]{40}", source.commit)
        assert source.paths
        assert all(LINK.fullmatch(source.url(path)) for path in source.paths)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_about_an_option_and_people_disagree(name: str) -> None:
    question = QUESTIONS[name]
    assert question.about in OPTIONS
    given = {choice for x in LIBRARIES for choice in x.says.get(name, ())}
    assert given <= {*question.choices}
    assert len(given) > 1


def test_choices_of_conventions_have_their_names() -> None:
    shared = {*QUESTIONS} & {*CONVENTIONS}
    assert shared >= {"causal", "window-alignment", "softcap", "fully-masked"}
    for name in shared:
        assert {*QUESTIONS[name].choices} - {*CONVENTIONS[name]} <= UNDECLARED.get(name, set()), (
            name
        )


def test_options_are_asked_by_words_that_are_ours() -> None:
    words = {word for parameter in PARAMETERS for word in parameter.spellings}
    assert {OPTIONS[name].word for name in ("causal", "window", "soft-cap")} <= words
