"""Where each thing has its page, and what it is called there."""

from __future__ import annotations

import re
from typing import Any

from spec.certification.pages.judged import Judged
from spec.certification.pages.matrix import shortened
from spec.clause import Clause
from spec.kinds import KINDS, kind_of

WORDS = {  # of letters that several kinds share
    "R": "positions",
    "C": "causality and caches",
}
CHAPTERS = {
    "attention": "Attention",
    "layer": "Layers",
    "sinusoidal": "Sinusoidal positions",
    "rotary": "Rotary positions",
    "alibi": "ALiBi positions",
    "feed-forward": "Feed-forward networks",
    "dropout": "Dropout",
    "cache": "KV caches",
    "merging": "Merging of partial results",
}


def clause_path(number: str) -> str:
    """The page of a clause."""
    return f"clauses/{number}.md"


def clause_title(clause: Clause) -> str:
    """Its heading, as Markdown."""
    from docs.generator.writing import prose

    return f"{clause.number}: {prose(clause.sentence)}"


def section_path(letter: str) -> str:
    """The page of a section."""
    return f"sections/{letter}.md"


def section_word(letter: str) -> str:
    """A section in a word or two."""
    if letter in WORDS:
        return WORDS[letter]
    found = (kind.sections[letter] for kind in KINDS.values() if letter in kind.sections)
    return next(found, "")


def section_title(letter: str) -> str:
    """A section by its letter and its word."""
    return f"Section {letter}: {section_word(letter)}"


def about_path(about: str) -> str:
    """The list of the clauses about one kind of target."""
    return f"clauses/index.md#{about}"


def chapter(about: str) -> str:
    """The name of a kind of target in headings."""
    noun = kind_of(about).noun
    return CHAPTERS.get(about, noun[:1].upper() + noun[1:])


def judged_path(judged: Judged) -> str:
    """The page of an implementation of the ledger."""
    return f"implementations/{slug(judged.name)}.md"


def library_path(library: str) -> str:
    """The page of a library."""
    return f"implementations/libraries/{slug(library)}.md"


def option_path(name: str) -> str:
    """The page of an option."""
    return f"options/{slug(name)}.md"


def convention_path(name: str) -> str:
    """The page of a convention."""
    return f"conventions/{slug(name)}.md"


def slug(text: str) -> str:
    """A name as part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def option_words(capability: Any) -> str:
    """The need of a clause, in a few words."""
    return shortened(str(getattr(capability, "value", capability)))
