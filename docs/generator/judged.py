"""A page for each implementation and each library of the ledger, and the list of all of them."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.facts import Facts
from docs.generator.found import page
from docs.generator.naming import chapter, judged_path, library_path, section_path
from docs.generator.writing import Page, code, counted, joined, link, plain, prose, sentence, table
from docs.generator.writing import heading as header
from spec.certification.ledger.text import in_short
from spec.certification.pages.matrix import Chapter, chapters
from spec.certification.pages.matrix_text import LEGEND, gravest

ABOUT = (
    "The ledger records what certification found in public libraries: which clauses each function, "
    "layer or cache breaks, under which condition, and whether that is a fault, a documented "
    "choice, a convention or a matter of precision. Every fault has a script that shows it with "
    "the library alone."
)


def pages(facts: Facts) -> Iterator[Page]:
    """The list, the libraries, and the implementations."""
    lines = {
        line.judged.name: line
        for found in chapters(facts.judged, facts.clauses)
        for line in found.lines
    }
    yield everything(facts)
    for library in sorted({x.library for x in facts.judged}, key=str.lower):
        yield of_library(library, facts)
    yield from (page(x, facts, lines[x.name]) for x in facts.judged)


def everything(facts: Facts) -> Page:
    """The list, by library."""
    here = "implementations/index.md"
    parts = ["# Judged implementations"]
    libraries = sorted({x.library for x in facts.judged}, key=str.lower)
    count = f"{counted(len(facts.judged), 'implementation')} of {len(libraries)} libraries."
    parts += [ABOUT, count]
    for found in chapters(facts.judged, facts.clauses):
        parts += [header(chapter(found.about), indexed=False), LEGEND, _matrix(found, here)]
    parts += ["## By library", _libraries(libraries, facts, here)]
    return Page(here, "Judged implementations", joined(*parts), ABOUT, boost=1.5)


def _matrix(found: Chapter, here: str) -> str:
    """A row for each implementation, a column for each section."""
    head = ["", "library", *(link(here, section_path(x), x) for x in found.sections)]
    rows = (
        [
            link(here, judged_path(line.judged), code(line.judged.name)),
            plain(f"{line.judged.library} {line.judged.version}".rstrip()),
            *(plain(gravest(line.sections.get(x, ()))) for x in found.sections),
        ]
        for line in found.lines
    )
    return table(head, rows)


def _libraries(libraries: list[str], facts: Facts, here: str) -> str:
    def row(library: str) -> tuple[str, str, str]:
        ours = [x for x in facts.judged if x.library == library]
        certified = sum(x.certificate.passed for x in ours)
        return link(here, library_path(library), plain(library)), str(len(ours)), str(certified)

    return table(("library", "implementations", "certified"), map(row, libraries))


def of_library(library: str, facts: Facts) -> Page:
    """The page of a library."""
    here = library_path(library)
    ours = [x for x in facts.judged if x.library == library]
    rows = (
        (
            link(here, judged_path(x), code(x.name)),
            chapter(x.certificate.about),
            prose(in_short(x.certificate)),
            "<br>".join(prose(sentence(said.get("words", ""))) for _, said in x.pairs if said),
        )
        for x in ours
    )
    version = next((x.version for x in ours if x.version), "")
    body = joined(
        f"# {plain(library)}",
        f"{counted(len(ours), 'implementation')} of {plain(f'{library} {version}'.strip())}.",
        table(("implementation", "kind", "result", "what was found"), rows),
        link(here, "implementations/index.md", "All implementations"),
    )
    return Page(here, library, body, f"Certification results for {library}.", boost=1.5)
