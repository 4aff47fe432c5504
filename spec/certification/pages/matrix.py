"""Implementations by section and by option: the outcomes by dtype, and the failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.findings import grouped
from spec.certification.ledger.outcomes import SAID, outcome
from spec.certification.ledger.remarks import by_clause
from spec.certification.ledger.text import in_short
from spec.certification.pages.certificate_page import SIGNS, region_of
from spec.certification.pages.judged import Judged
from spec.certification.pages.sheet import GRAVE, title
from spec.clause import Clause, section_of
from spec.kinds import kind_of
from spec.notation import DTYPES

HELD = "✓"
GRAVITY = (
    *("crashed", "violated", "deviates", "violated should"),
    *("blocked", "refused", "violated promise", "holds", "not offered"),
)


@dataclass(frozen=True)
class State:
    """The gravest outcome of some clauses. of: by dtype how many have it, and of how many."""

    outcome: str
    of: Mapping[str, tuple[int, int]]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes with this outcome."""
        return tuple(self.of)

    @property
    def sign(self) -> str:
        """The outcome as a sign."""
        return HELD if self.outcome == "holds" else SAID[self.outcome].mark

    @property
    def grave(self) -> bool:
        """Whether it is shown as wrong."""
        return self.outcome in GRAVE

    def words(self, formats: int) -> str:
        """The outcome in words; dtypes are named unless all `formats` of them have it."""
        said = SAID[self.outcome].words
        alike = grouped((f"{count} of {ran}", dtype) for dtype, (count, ran) in self.of.items())
        parts = [
            figures + (f" in {', '.join(dtypes)}" if len(dtypes) < formats else "")
            for figures, dtypes in alike.items()
        ]
        return f"{said}: {'; '.join(parts)}"


@dataclass(frozen=True)
class Line:
    """One implementation. place: its number in links."""

    place: int
    judged: Judged
    sections: Mapping[str, tuple[State, ...]]
    options: Mapping[str, tuple[State, ...]]

    @property
    def id(self) -> str:
        """The anchor of links to it."""
        return f"i{self.place}"

    @property
    def sign(self) -> str:
        """The verdict as a sign."""
        return SIGNS[self.judged.certificate.exit_code]

    @property
    def verdict(self) -> str:
        """The verdict in a few words."""
        return in_short(self.judged.certificate)

    @property
    def region(self) -> str:
        """The region in which it is correct."""
        found = self.judged.certificate
        return region_of(found).removeprefix(f"{kind_of(found.about).noun} ")

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of its declared deviations."""
        told = (v for v in self.judged.certificate.verdicts if v.outcome == "deviates")
        return tuple(dict.fromkeys(v.message for v in told))

    @property
    def broken(self) -> Mapping[str, Mapping[str, list[Verdict]]]:
        """By section and clause, the verdicts other than `holds`."""
        quiet = ("holds", "not offered")
        told = [v for v in by_clause(self.judged.certificate) if v.outcome not in quiet]
        found = grouped((section_of(v.clause), v) for v in told)
        return {letter: grouped((v.clause, v) for v in vs) for letter, vs in found.items()}

    @property
    def matters(self) -> Mapping[str, Mapping[str, list[str]]]:
        """By section, the failures in words, and the clauses that have them."""
        return {
            letter: grouped(
                (self._matter(alike), number)
                for number, found in clauses.items()
                for alike in grouped((v.outcome, v) for v in found).values()
            )
            for letter, clauses in self.broken.items()
        }

    def _matter(self, verdicts: Sequence[Verdict]) -> str:
        """The failure of a clause in these dtypes, which are named unless they are all."""
        should = " (should)" if verdicts[0].force == "should" else ""
        dtypes = [v.dtype for v in verdicts]
        somewhere = len(dtypes) < len(self.judged.certificate.dtypes)
        promised = outcome(verdicts[0]) == "violated promise"
        said = SAID["violated promise" if promised else verdicts[0].outcome].words
        return f"{said}{should}" + (f" in {', '.join(dtypes)}" if somewhere else "")


@dataclass(frozen=True)
class Chapter:
    """All implementations of one kind, with the columns of their tables."""

    about: str
    noun: str
    lines: tuple[Line, ...]
    sections: Mapping[str, str]  # a letter -> what it is about
    options: tuple[str, ...]


def chapters(judged: Sequence[Judged], clauses: Mapping[str, Clause]) -> tuple[Chapter, ...]:
    """The matrix, a table for each kind of subject."""
    lines = [_line(place, x, clauses) for place, x in enumerate(judged, start=1)]
    by_kind = grouped((line.judged.certificate.about, line) for line in lines)
    return tuple(_chapter(about, found, clauses) for about, found in by_kind.items())


def _chapter(about: str, lines: list[Line], clauses: Mapping[str, Clause]) -> Chapter:
    ours = [clause for clause in clauses.values() if clause.about == about]
    met = {letter for line in lines for letter in line.sections}
    letters = [*dict.fromkeys(c.section for c in ours), *sorted(met)]
    needs = dict.fromkeys(need for clause in ours for need in sorted(clause.needs))
    offered = {x for line in lines for x, states in line.options.items() if states}
    return Chapter(
        about,
        kind_of(about).noun,
        tuple(lines),
        {x: title(x, clauses) for x in dict.fromkeys(letters) if x in met},
        tuple(need for need in needs if need in offered),
    )


def _line(place: int, judged: Judged, clauses: Mapping[str, Clause]) -> Line:
    def needs(verdict: Verdict) -> Iterable[str]:
        clause = clauses.get(verdict.clause)
        return clause.needs if clause else ()

    verdicts = by_clause(judged.certificate)
    sections = _tallied(verdicts, lambda v: (section_of(v.clause),))
    return Line(place, judged, sections, _tallied(verdicts, needs))


def _tallied(
    verdicts: Sequence[Verdict], columns: Callable[[Verdict], Iterable[str]]
) -> Mapping[str, tuple[State, ...]]:
    """For each column the states of its verdicts, dtypes of one state together."""
    found = grouped((column, v) for v in verdicts for column in columns(v))
    return {column: states(vs) for column, vs in found.items()}


def states(verdicts: Iterable[Verdict]) -> tuple[State, ...]:
    """The gravest outcome in each dtype; empty if nothing was supported."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    by_dtype = grouped((v.dtype, v) for v in verdicts)
    for dtype in sorted(by_dtype, key=DTYPES.index):
        outcomes = [outcome(v) for v in by_dtype[dtype] if v.outcome != "not offered"]
        if outcomes:
            worst = min(outcomes, key=GRAVITY.index)
            found.setdefault(worst, {})[dtype] = outcomes.count(worst), len(outcomes)
    return tuple(State(worst, of) for worst, of in found.items())


def shortened(option: str) -> str:
    """The name of an option in the head of a column."""
    return re.sub(r"^(takes|has|can be|can|is) (a |an |the )?", "", option)
