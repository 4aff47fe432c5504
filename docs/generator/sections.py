"""The list of all clauses, and a page for each section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docs.generator.clauses import rows
from docs.generator.facts import Facts, clauses_of, letters
from docs.generator.naming import chapter, section_path, section_title
from docs.generator.writing import Page, capital, counted, joined, link, listed, paragraphs, prose
from spec.kinds import KINDS
from spec.version import CURRENT

EVIDENCE = """\
*Evidence* says why a clause is believed. **Proved**: for any number of keys, by computer algebra.
**Proved at sizes**: for all numbers, at the sizes that the proof states. **Exact**: the definition
itself, in rational arithmetic. **Checked**: by running it. *Bugs*: how many known bugs the clause
must reject. *Broken by*: how many implementations of the ledger break it."""


def pages(facts: Facts) -> Iterator[Page]:
    """The list, and the sections."""
    yield everything(facts)
    for letter, modules in letters(facts.clauses).items():
        yield section(letter, modules, facts)


def everything(facts: Facts) -> Page:
    """All clauses by kind of target and section."""
    here = "clauses/index.md"
    parts = []
    for about in KINDS:
        ours = {n: c for n, c in facts.clauses.items() if c.about == about}
        parts.append(f"## {chapter(about)} {{ #{about} data-search-exclude }}")
        for letter in dict.fromkeys(c.section for c in ours.values()):
            found = [c for c in ours.values() if c.section == letter]
            title = link(here, section_path(letter), prose(section_title(letter)))
            parts.append(f"### {title} {{ #{about}-{letter} data-search-exclude }}")
            parts.append(rows(found, facts, here))
    count = counted(len(facts.clauses), "clause")
    head = (
        f"{count} for {len(KINDS)} kinds of target, version {CURRENT} of the specification. A "
        "clause is a numbered claim with a formula, a reason, and a check that runs."
    )
    body = joined("# All clauses", head, EVIDENCE, _kinds(facts), *parts)
    return Page(here, "All clauses", body, "All clauses of the specification, by section.")


def _kinds(facts: Facts) -> str:
    """Links to the chapters."""
    counts = dict.fromkeys(KINDS, 0)
    for clause in facts.clauses.values():
        counts[clause.about] += 1
    return listed(
        f"[{chapter(about)}](#{about}): {counted(n, 'clause')}" for about, n in counts.items()
    )


def section(letter: str, modules: list[Any], facts: Facts) -> Page:
    """The page of a section: what it says, part by part, with its clauses."""
    here = section_path(letter)
    title = section_title(letter)
    parts = [f"# {capital(title)}"]
    for module in modules:
        first, _, rest = (module.__doc__ or "").partition("\n")
        parts.append(f"## {prose(heading(first))}")
        parts.append(paragraphs(rest))
        found = [c for c in clauses_of(module) if c.number in facts.clauses]
        parts.append(rows(found, facts, here))
    parts.append(EVIDENCE)
    parts.append(link(here, "clauses/index.md", "All clauses"))
    first = heading((modules[0].__doc__ or "").partition("\n")[0])
    return Page(here, title, joined(*parts), first, boost=2)


def heading(line: str) -> str:
    """The first line of a module of clauses, without "Section A, continued."."""
    return line.partition(". ")[2] if line.startswith("Section") else line
