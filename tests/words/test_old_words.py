"""Lists, clauses and help use the words of the glossary; so do the sentences of the ledger."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache

import pytest

from spec.certification.listing import TOPICS
from tests.certification import here
from tests.walked import ROOT

OLD = {  # a word that was used before: the word of the glossary
    r"texts": "sequences",
    r"(?:a|all|another|each|every|first|next|of|one|other|second) text": "a sequence",
    r"places?": "position",
    r"idle": "fully masked",
    r"corners?": "alignment",
    r"first keys": "leading keys",
    r"(?<!soft-)caps?": "soft-cap",
    r"spellings?": "API dialect",
    r"incidents?": "known bug",
}
WORDS = re.compile(rf"\b(?:{'|'.join(OLD)})\b", re.IGNORECASE)
COMMANDS = ("certify", "campaign", "clauses", "list", "targets", "compare", "ledger")
PRINTED = (
    *(("list", topic) for topic in TOPICS),
    ("list",),
    ("clauses",),
    ("targets",),
    ("--help",),
    *((command, "--help") for command in COMMANDS),
)


def found(text: str) -> list[str]:
    """The lines with an old word."""
    return [line for line in text.splitlines() if WORDS.search(line)]


@pytest.mark.parametrize("words", PRINTED, ids=" ".join)
def test_what_is_printed_has_no_old_word(words: tuple[str, ...]) -> None:
    done = here.run(*words)
    assert done.returncode == 0
    assert len(done.stdout) > 20
    assert not found(done.stdout)


@cache
def sentences() -> tuple[str, ...]:
    """What the ledger says was found in other libraries."""

    def of(entry: object) -> Iterator[str]:
        if isinstance(entry, dict):
            yield from (x for name in ("sentence", "words") if (x := entry.get(name)))
            yield from (text for value in entry.values() for text in of(value))
        elif isinstance(entry, list):
            yield from (text for value in entry for text in of(value))

    files = sorted((ROOT / "implementations" / "ledger").glob("*.toml"))
    return tuple(text for file in files for text in of(tomllib.loads(file.read_text("utf-8"))))


def test_no_sentence_of_the_ledger_has_an_old_word() -> None:
    assert len(sentences()) > 100
    assert not [text for text in sentences() if found(text)]


@pytest.mark.parametrize(
    "line",
    [
        "(tokens of all texts, heads, width)",
        "all texts of a batch get the mask of the first one",
        "16 places to a page",
        "an idle query",
        "Corner: top-left",
        "a cap on scores",
    ],
)
def test_an_old_word_is_found(line: str) -> None:
    assert found(f"a\n{line}\nb") == [line]


@pytest.mark.parametrize("line", ["a soft-cap", "write text, JSON", "replaces", "the context"])
def test_another_word_is_accepted(line: str) -> None:
    assert not found(line)
