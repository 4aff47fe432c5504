"""A certificate as a page: verdict, region, causes with drawn counterexamples, every clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spec.certification.judging.cause import Cause
from spec.certification.judging.verdict import Counterexample, Verdict
from spec.certification.ledger.causes import as_text, ranges, region_in_words
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import grouped
from spec.certification.ledger.outcomes import SAID
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
    """A counterexample, its clause, and its figures."""

    example: Counterexample
    number: str
    formula: str
    sizes: str
    options: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]  # arrays, where there is no script that has them
    figures: Figures

    @staticmethod
    def of(example: Counterexample, number: str) -> Shown:
        """A counterexample with all that a page shows of it."""
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
    """A cause for a page: its clauses as ranges, each with its first number."""

    place: int
    cause: Cause
    clauses: tuple[tuple[str, str], ...]
    shown: Shown | None

    @staticmethod
    def of(place: int, cause: Cause, clauses: Mapping[str, Clause]) -> Explained:
        """A cause for a page. place: its number; the first is 1."""
        example = cause.counterexample
        shown = None if example is None else Shown.of(example, number_of(cause, clauses))
        runs = ranges(cause.clauses).split(", ") if cause.clauses else []
        return Explained(place, cause, tuple((run, run.partition("-")[0]) for run in runs), shown)


def certificate_page(certificate: Certificate, clauses: Mapping[str, Clause]) -> str:
    """The page. Raises Unsuitable if Jinja2 is not installed."""
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
        said=SAID,
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
    """The region in which the target is correct, in words."""
    if certificate.causes:
        return region_in_words(certificate).removeprefix("correct ")
    if certificate.exit_code:
        return "not known: no cause was found"
    where = certificate.region.sentence
    everywhere = f"with {where}" if where else "on all problems that the target supports"
    known = ", ".join(certificate.deviations)
    return f"{everywhere}, except for the deviations {known}" if known else everywhere


def number_of(cause: Cause, clauses: Mapping[str, Clause]) -> str:
    """The number of the clause that the counterexample breaks, found by its sentence."""
    said = cause.counterexample.sentence if cause.counterexample else ""
    known = (clauses[number] for number in cause.clauses if number in clauses)
    found = next((clause for clause in known if clause.sentence == said), None)
    return found.number if found else ""


def _unexplained(certificate: Certificate) -> tuple[tuple[Verdict, Shown], ...]:
    """The smallest counterexample of each clause that fails without a cause."""
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
    """Yield the lines about clauses that do not simply pass, each as its head and the rest."""
    lines: list[str] = []
    for line in remarks(certificate).splitlines():
        if line.startswith(" ") and lines:
            lines[-1] = f"{lines[-1]} {line.strip()}"
        elif line:
            lines.append(line)
    for line in lines:
        head, colon, rest = line.partition(": ")
        yield (head, rest) if colon else ("", line)
