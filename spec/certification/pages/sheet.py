"""The sections and clauses of a certificate for a page: by dtype, with the failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.causes import ranges
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import grouped
from spec.certification.ledger.outcomes import SAID, outcome
from spec.certification.ledger.remarks import by_clause
from spec.certification.pages.formulas import formula
from spec.clause import Clause, section_of

GRAVE = ("violated", "crashed")  # what is coloured as wrong


@dataclass(frozen=True)
class Mark:
    """An outcome: its sign, its words, and how many clauses have it."""

    sign: str
    words: str
    count: int
    grave: bool


@dataclass(frozen=True)
class Cell:
    """A section in one dtype: how many clauses were run, and their outcomes."""

    dtype: str
    held: int
    ran: int
    marks: tuple[Mark, ...]
    worst: float | None

    @property
    def spent(self) -> str:
        """The largest share of an error bound, in percent, as a width."""
        return f"{100 * min(1.0, self.worst or 0.0):.0f}%"


@dataclass(frozen=True)
class Entry:
    """A clause in one dtype."""

    mark: Mark
    verdict: Verdict

    @property
    def worst(self) -> str:
        """The share of the error bound, if the clause passes on some problem."""
        held = self.verdict.outcome == "holds" and self.verdict.examples
        return f"{self.verdict.worst:.2f}" if held else ""


@dataclass(frozen=True)
class Row:
    """A clause in all dtypes; a clause that the specification no longer has has no sentence."""

    number: str
    name: str
    soft: bool
    sentence: str
    formula: str
    evidence: str
    entries: tuple[Entry | None, ...]
    said: tuple[str, ...]  # why, where there is no cause


@dataclass(frozen=True)
class Section:
    """A letter, with the clauses that were run and those whose needs are not supported."""

    letter: str
    title: str
    cells: tuple[Cell, ...]
    rows: tuple[Row, ...]
    absent: tuple[tuple[str, str], ...]  # clauses, and what they need


def sections(certificate: Certificate, clauses: Mapping[str, Clause]) -> tuple[Section, ...]:
    """All sections with clauses to judge."""
    found = grouped((section_of(v.clause), v) for v in by_clause(certificate))
    return tuple(_section(x, vs, certificate.dtypes, clauses) for x, vs in found.items())


def _section(
    letter: str, verdicts: list[Verdict], dtypes: Sequence[str], clauses: Mapping[str, Clause]
) -> Section:
    numbered = grouped((v.clause, v) for v in verdicts)
    run = {n: vs for n, vs in numbered.items() if any(v.outcome != "not offered" for v in vs)}
    absent = grouped((vs[0].message, n) for n, vs in numbered.items() if n not in run)
    return Section(
        letter,
        title(letter, clauses),
        tuple(cell(d, [v for v in verdicts if v.dtype == d]) for d in dtypes),
        tuple(_row(clauses.get(n), vs, dtypes) for n, vs in run.items()),
        tuple((ranges(numbers), needs) for needs, numbers in absent.items()),
    )


def title(letter: str, clauses: Mapping[str, Clause]) -> str:
    """The title of a section: the first line of the module in which it begins."""
    first = next((c for c in clauses.values() if c.section == letter), None)
    if first is None:
        return ""
    line = (import_module(first.check.__module__).__doc__ or "").splitlines()[0]
    return line.partition(". ")[2] if line.startswith("Section") else line


def cell(dtype: str, verdicts: Iterable[Verdict]) -> Cell:
    """The cell of some verdicts in one dtype."""
    ran = [v for v in verdicts if v.outcome != "not offered"]
    held = [v for v in ran if v.outcome == "holds"]
    worst = max((v.worst for v in held if v.examples), default=None)
    return Cell(dtype, len(held), len(ran), tuple(marks(ran)), worst)


def marks(verdicts: Sequence[Verdict]) -> Iterator[Mark]:
    """The marks of outcomes other than `holds`, each once."""
    found = [outcome(v) for v in verdicts if v.outcome != "holds"]
    return (mark(name, found.count(name)) for name in SAID if name in found)


def mark(name: str, count: int = 1) -> Mark:
    """The mark of an outcome."""
    return Mark(SAID[name].mark, SAID[name].words, count, name in GRAVE)


def _row(clause: Clause | None, verdicts: list[Verdict], dtypes: Sequence[str]) -> Row:
    first = verdicts[0]
    by_dtype = {v.dtype: Entry(mark(outcome(v)), v) for v in verdicts}
    told = ("holds", "not offered")
    said = dict.fromkeys(
        v.message for v in verdicts if v.message and v.outcome not in told and not v.causes
    )
    return Row(
        first.clause,
        first.name,
        first.force == "should",
        clause.sentence if clause else "",
        formula(clause.formula) if clause and clause.formula else "",
        clause.evidence if clause else "",
        tuple(by_dtype.get(d) for d in dtypes),
        tuple(said),
    )
