"""A certificate as a page: verdict, region, causes, their counterexamples drawn, every clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spec.certification.judging.cause import Cause
from spec.certification.judging.verdict import Counterexample, Verdict
from spec.certification.ledger.causes import as_text, ranges, region_in_words
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import grouped
from spec.certification.ledger.outcomes import IN_WORDS
from spec.certification.ledger.remarks import remarks
from spec.certification.ledger.text import in_short
from spec.certification.pages.figures import Figures, figures
from spec.certification.pages.formulas import formula
from spec.certification.pages.rendering import rendered
from spec.certification.pages.sheet import sections
from spec.clause import Clause
from spec.kinds import kind_of
from spec.written import arrays, options, sizes

SHOWN = 12  # counterexamples of clauses that are broken for no known cause
SIGNS = {0: "✓", 1: "✗", 3: "?"}


@dataclass(frozen=True)
class Shown:
    """A counterexample, its clause, and what there is to see."""

    example: Counterexample
    number: str
    formula: str
    sizes: str
    options: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]  # arrays, where there is no script that has them
    figures: Figures

    @staticmethod
    def of(example: Counterexample, number: str) -> Shown:
        """All that a page says of a counterexample."""
        problem = example.problem
        lengths = " ".join(f"{name}={x}" for name, x in sizes(problem).items())
        memory = getattr(problem, "memory", "contiguous")
        laid = [f"{memory} memory"] * (memory != "contiguous")
        asked = (f"{name}={value}" for name, value in options(problem).items())
        texts = () if example.script else tuple(_in_words(problem))
        found = figures(example)
        said = formula(example.formula)
        return Shown(example, number, said, lengths, (*asked, *laid), texts, found)


@dataclass(frozen=True)
class Explained:
    """A cause as a page tells it: clauses as runs, each with the number that it begins with."""

    place: int
    cause: Cause
    clauses: tuple[tuple[str, str], ...]
    shown: Shown | None

    @staticmethod
    def of(place: int, cause: Cause, clauses: Mapping[str, Clause]) -> Explained:
        """A cause, the first being number 1."""
        example = cause.counterexample
        shown = None if example is None else Shown.of(example, number_of(cause, clauses))
        runs = ranges(cause.clauses).split(", ") if cause.clauses else []
        return Explained(place, cause, tuple((run, run.partition("-")[0]) for run in runs), shown)


def certificate_page(certificate: Certificate, clauses: Mapping[str, Clause]) -> str:
    """The page. Raises Unsuitable where Jinja2 is not installed."""
    changed = {
        name: value
        for name, value in certificate.conventions.items()
        if certificate.defaults.get(name, "strict") != value
    }
    causes = [Explained.of(i, x, clauses) for i, x in enumerate(certificate.causes, start=1)]
    return rendered(
        "certificate.html",
        c=certificate,
        sign=SIGNS[certificate.exit_code],
        verdict=in_short(certificate),
        words=IN_WORDS,
        noun=kind_of(certificate.about).noun,
        changed=changed,
        known=grouped(
            (v.message, v.clause) for v in certificate.verdicts if v.outcome == "deviates"
        ),
        region=region_of(certificate),
        causes=causes,
        unexplained=_unexplained(certificate),
        remarks=tuple(_remarks(certificate)),
        sections=sections(certificate, clauses),
    )


def region_of(certificate: Certificate) -> str:
    """Where it is what it is said to be, in words."""
    if certificate.causes:
        return region_in_words(certificate).removeprefix("correct ")
    if certificate.exit_code:
        return "not known: no cause was found"
    where = certificate.region.sentence
    everywhere = f"with {where}" if where else "on all problems that the target supports"
    known = ", ".join(certificate.deviations)
    return f"{everywhere}, except for the deviations {known}" if known else everywhere


def number_of(cause: Cause, clauses: Mapping[str, Clause]) -> str:
    """The clause of a cause that its counterexample breaks, told by its sentence."""
    said = cause.counterexample.sentence if cause.counterexample else ""
    known = (clauses[number] for number in cause.clauses if number in clauses)
    found = next((clause for clause in known if clause.sentence == said), None)
    return found.number if found else ""


def _unexplained(certificate: Certificate) -> tuple[tuple[Verdict, Shown], ...]:
    """Of each clause that is broken for no known cause the smallest counterexample."""
    alone = (v for v in certificate.failures if v.counterexample and not v.causes)
    found = grouped((v.clause, v) for v in alone)
    smallest = [min(verdicts, key=_size) for verdicts in found.values()]
    shown = ((v, v.counterexample) for v in smallest[:SHOWN])
    return tuple((v, Shown.of(example, v.clause)) for v, example in shown if example)


def _size(verdict: Verdict) -> int:
    assert verdict.counterexample is not None
    return sum(x.size for x in arrays(verdict.counterexample.problem).values())


def _in_words(problem: Any) -> Iterator[tuple[str, str]]:
    return ((name, as_text(x, 0)) for name, x in arrays(problem).items())


def _remarks(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """What is no plain `holds`: what it is, and the rest, as one line each."""
    lines: list[str] = []
    for line in remarks(certificate).splitlines():
        if line.startswith(" ") and lines:
            lines[-1] = f"{lines[-1]} {line.strip()}"
        elif line:
            lines.append(line)
    for line in lines:
        head, colon, rest = line.partition(": ")
        yield (head, rest) if colon else ("", line)
