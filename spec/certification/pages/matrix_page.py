"""The matrix as a page: tables with links to clauses and counterexamples, filters, one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spec.certification.judging.cause import Cause
from spec.certification.pages.certificate_page import number_of
from spec.certification.pages.formulas import formula
from spec.certification.pages.judged import KINDS, UNJUDGED, Judged
from spec.certification.pages.matrix import Chapter, chapters, shortened
from spec.certification.pages.matrix_text import LEGEND
from spec.certification.pages.rendering import rendered
from spec.certification.pages.sheet import title
from spec.clause import Clause
from spec.notation import DTYPES

LONG = 2500  # letters: a script that has more is not shown
SECURE = ("https://", "http://")  # where a link of a stranger's may lead


@dataclass(frozen=True)
class Told:
    """A cause, its judgement, and the number of the clause that its problem breaks."""

    cause: Cause | None
    said: Mapping[str, str]
    number: str

    @property
    def kind(self) -> str:
        """The kind of the cause: a fault, a choice, …"""
        return self.said.get("kind", UNJUDGED)

    def say(self, name: str) -> str:
        """A field of the judgement; empty if it is missing."""
        return self.said.get(name, "")

    @property
    def sentence(self) -> str:
        """The condition and the failure."""
        return self.cause.sentence if self.cause else self.said.get("sentence", "")

    @property
    def script(self) -> str:
        """The script that repeats the failure, if it is short."""
        example = self.cause.counterexample if self.cause else None
        return example.script.strip() if example and len(example.script) <= LONG else ""

    @property
    def link(self) -> str:
        """The issue, if it is an address."""
        issue = self.said.get("issue", "")
        return issue if issue.startswith(SECURE) else ""


def matrix_page(judged: Sequence[Judged], clauses: Mapping[str, Clause]) -> str:
    """The page. Raises Unsuitable if Jinja2 is not installed."""
    found = chapters(judged, clauses)
    dtypes = {dtype for x in judged for dtype in x.certificate.dtypes}
    kinds = {kind for x in judged for kind in x.kinds}
    return rendered(
        "matrix.html",
        chapters=found,
        count=len(judged),
        libraries=sorted({x.library for x in judged}, key=str.lower),
        dtypes=[d for d in DTYPES if d in dtypes],
        kinds=[k for k in (*KINDS, UNJUDGED) if k in kinds],
        told=lambda line: [_told(cause, said, clauses) for cause, said in line.judged.pairs],
        shortened=shortened,
        legend=LEGEND,
        clauses=clauses,
        formula=formula,
        appendix={chapter.about: _appendix(chapter, clauses) for chapter in found},
    )


def _told(cause: Cause | None, said: Mapping[str, str], clauses: Mapping[str, Clause]) -> Told:
    return Told(cause, said, number_of(cause, clauses) if cause else "")


def _appendix(
    chapter: Chapter, clauses: Mapping[str, Clause]
) -> list[tuple[str, str, list[Clause]]]:
    """The clauses of all sections in a table, each section with its title."""
    ours = [clause for clause in clauses.values() if clause.about == chapter.about]
    return [
        (letter, title(letter, clauses), [c for c in ours if c.section == letter])
        for letter in chapter.sections
    ]
