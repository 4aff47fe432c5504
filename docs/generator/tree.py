"""All pages of the site, and the menu."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docs.generator import (
    bugs,
    clauses,
    conventions,
    guides,
    home,
    judged,
    options,
    sections,
    words,
)
from docs.generator.facts import Facts, letters
from docs.generator.naming import clause_path, judged_path, library_path, section_path, section_word
from docs.generator.terms import glossary
from docs.generator.writing import Page, capital
from spec.certification.pages.judged import Judged
from spec.clause import Clause

ASSETS = Path(__file__).parent / "assets"
Menu = list[Any]  # of paths, and of titles with a path or a menu


def pages(facts: Facts) -> Iterator[Page]:
    """All pages, the definition first."""
    yield from home.pages(facts)
    for part in (sections, clauses, options, conventions, bugs, judged):
        yield from part.pages(facts)
    yield from guides.pages()
    yield from words.pages()


def write(found: Sequence[Page], folder: Path) -> None:
    """Write pages as files, with links to the glossary, and the other files that they need."""
    linking = glossary()
    shutil.rmtree(folder, ignore_errors=True)
    for page in found:
        file = folder / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(linking.linked(page.text, page.path), encoding="utf-8")
    shutil.copytree(ASSETS, folder / "assets")


def menu(facts: Facts) -> Menu:
    """The menu: the definition, guides, clauses by section, and the lists of everything else."""
    return [
        {"Definition": "index.md"},
        {"Guides": _guides()},
        {"Clauses": ["clauses/index.md", *_sections(facts)]},
        {"Options": ["options/index.md", *_all("options", facts, options)]},
        {"Conventions": ["conventions/index.md", *_all("conventions", facts, conventions)]},
        {"Known bugs": ["bugs/index.md", *(x.path for x in facts.incidents.values())]},
        {"Implementations": ["implementations/index.md", *_libraries(facts)]},
        {"Glossary": "glossary.md"},
    ]


def _guides() -> Menu:
    found: Menu = [x for x in guides.GUIDES.values() if x.startswith("guides/")]
    found[0] = {"Start": found[0]}
    found.insert(found.index("guides/reference.md") + 1, words.HERE)
    return found


def _sections(facts: Facts) -> Menu:
    """Each section with its clauses."""
    return [
        {
            f"{letter} {capital(section_word(letter))}": [
                section_path(letter),
                *(_named(c) for c in facts.clauses.values() if c.section == letter),
            ]
        }
        for letter in letters(facts.clauses)
    ]


def _named(clause: Clause) -> dict[str, str]:
    """A clause in the menu, by its number and its name."""
    words = clause.name.replace("_", " ")
    return {f"{clause.number} {words}": clause_path(clause.number)}


def _all(folder: str, facts: Facts, part: Any) -> Menu:
    """The pages of a folder, by what they are called without the word for their kind."""
    found = [page for page in part.pages(facts) if not page.path.endswith("index.md")]
    assert all(page.path.startswith(folder) for page in found)
    return [{capital(page.title.partition(": ")[2]): page.path} for page in found]


def _libraries(facts: Facts) -> Menu:
    """Each library with what was judged of it."""
    names = sorted({x.library for x in facts.judged}, key=str.lower)
    return [
        {name: [library_path(name), *(_one(x) for x in facts.judged if x.library == name)]}
        for name in names
    ]


def _one(x: Judged) -> dict[str, str]:
    return {x.name: judged_path(x)}
