"""The page of an implementation of the ledger: what was found, and which clauses it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from docs.generator.facts import BROKEN, Facts
from docs.generator.naming import (
    chapter,
    clause_path,
    convention_path,
    judged_path,
    library_path,
    section_path,
    section_word,
)
from docs.generator.writing import (
    Page,
    block,
    capital,
    code,
    counted,
    joined,
    link,
    outside,
    plain,
    prose,
    sentence,
    table,
)
from docs.generator.writing import facts as told
from docs.generator.writing import heading as header
from spec.certification.judging.cause import Cause
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import grouped
from spec.certification.ledger.text import in_short
from spec.certification.pages.judged import Judged
from spec.certification.pages.matrix import Line
from spec.certification.pages.sheet import sections

KINDS = {
    "fault": "a fault: no documentation describes it",
    "choice": "a choice that the library documents",
    "convention": "another convention than the default",
    "precision": "fewer bits than the arrays have",
}
LONG = 2500  # characters: a longer script is not shown


def page(x: Judged, facts: Facts, line: Line) -> Page:
    """The page of an implementation."""
    here, certificate = judged_path(x), x.certificate
    body = joined(
        f"# {code(x.name)}",
        f"**{prose(sentence(in_short(certificate)))}**",
        _facts(x, here),
        *_causes(x, here),
        *_reasons(line),
        *_broken(certificate, facts, here),
        header("Results by section", indexed=False),
        _sections(certificate, facts, here),
        *_refusals(certificate),
        header("Run it again", indexed=False),
        block(certificate.command, "console"),
        link(here, library_path(x.library), f"All implementations of {plain(x.library)}"),
    )
    words = f"{x.library} {x.version}: {in_short(certificate)}"
    return Page(here, f"{x.name} ({x.library})", body, words, boost=1.5)


def _facts(x: Judged, here: str) -> str:
    """What was tested, how, and where it is correct."""
    c = x.certificate
    usual = c.defaults
    chosen = {n: v for n, v in c.conventions.items() if usual.get(n) != v}
    conventions = ", ".join(
        link(here, convention_path(n.partition(" ")[0]), code(f"{n}={v}"))
        for n, v in chosen.items()
    )
    rows = [
        ("Library", link(here, library_path(x.library), plain(f"{x.library} {x.version}".strip()))),
        ("Kind", chapter(c.about)),
        ("Formats", ", ".join(c.dtypes)),
        ("Profile", f"{c.profile}, seed {c.seed}"),
        ("Tested on", prose(c.where) or "all problems that it accepts"),
        ("Conventions", conventions or "all defaults"),
        ("Compiled", c.compiled or "no"),
        ("Versions", prose(", ".join(f"{name} {value}" for name, value in c.versions.items()))),
    ]
    if c.causes:
        rows.insert(5, ("Correct when", prose(c.region.sentence) or "nowhere that was tested"))
    return told(rows)


def _causes(x: Judged, here: str) -> Iterator[str]:
    """What is wrong, with what was said of it."""
    if x.pairs:
        yield f"## What was found ({len(x.pairs)})"
    for place, (cause, said) in enumerate(x.pairs, start=1):
        told = cause.told if cause else said.get("sentence", "")
        yield f"### {place}. {prose(capital(told))} {{ #cause-{place} }}"
        yield from _said(said)
        if cause is not None:
            yield from _cause(cause, here)


def _said(said: Mapping[str, str]) -> Iterator[str]:
    if said.get("words"):
        yield prose(sentence(said["words"]))
    kind = said.get("kind", "")
    told = [f"Judged to be {KINDS.get(kind, kind)}."] if kind else []
    if said.get("documentation"):
        told.append(f"Documentation: {prose(sentence(said['documentation']))}")
    issue = said.get("issue", "")
    if issue.startswith("https://"):
        told.append(f"Issue: {outside(issue, plain(issue.removeprefix('https://github.com/')))}.")
    if said.get("script"):
        told.append(f"Script: `implementations/ledger/faults/{said['script']}`.")
    yield " ".join(told)


def _cause(cause: Cause, here: str) -> Iterator[str]:
    numbers = ", ".join(link(here, clause_path(n), n) for n in cause.clauses)
    fails = f"Fails {counted(len(cause.clauses), 'clause')} ({numbers})"
    yield f"{fails} in {', '.join(cause.dtypes)}."
    if cause.lens:
        yield f"Correct if: {prose(cause.lens)}."
    example = cause.counterexample
    if example is None:
        return
    yield f"The smallest example: {code(' '.join(example.message.split()).replace('`', ''))}"
    if example.script and len(example.script) <= LONG:
        yield block(example.script.strip(), "python")


def _reasons(line: Line) -> Iterator[str]:
    if line.reasons:
        yield "## Declared deviations"
        yield from (prose(sentence(x)) for x in line.reasons)


def _broken(certificate: Certificate, facts: Facts, here: str) -> Iterator[str]:
    """The clauses that it breaks."""
    found = grouped((v.clause, v) for v in certificate.verdicts if v.outcome in BROKEN)
    if not found:
        return
    rows = []
    for number, verdicts in found.items():
        clause = facts.clauses.get(number)
        places = dict.fromkeys(place + 1 for v in verdicts for place in v.causes)
        causes = ", ".join(f"[{x}](#cause-{x})" for x in places) or "–"
        outcomes = dict.fromkeys(v.outcome for v in verdicts)
        soft = "" if verdicts[0].force == "must" else f" ({verdicts[0].force})"
        rows.append(
            (
                link(here, clause_path(number), number) if clause else number,
                prose(clause.sentence if clause else verdicts[0].name),
                ", ".join(x for x in outcomes) + soft,
                ", ".join(v.dtype for v in verdicts),
                causes,
            )
        )
    yield header(f"Clauses that it breaks ({len(found)})", indexed=False)
    yield table(("clause", "claim", "result", "formats", "cause"), rows)


def _sections(certificate: Certificate, facts: Facts, here: str) -> str:
    rows = (
        [
            link(here, section_path(section.letter), f"{section.letter}")
            + " "
            + prose(section_word(section.letter)),
            *(f"{cell.held}/{cell.ran}" if cell.ran else "–" for cell in section.cells),
        ]
        for section in sections(certificate, facts.clauses)
    )
    return joined(
        "Passed and applicable clauses, for each format.",
        table(("section", *certificate.dtypes), rows),
    )


def _refusals(certificate: Certificate) -> Iterator[str]:
    """The kinds of problem for which it raises an exception."""
    keyed = grouped(
        ((r.what, r.direction, r.message), r.dtype) for r in certificate.refusals if not r.crashed
    )
    if keyed:
        yield header("Raises an exception for", indexed=False)
        rows = (
            (prose(what), direction, ", ".join(dtypes), prose(message[:200]))
            for (what, direction, message), dtypes in keyed.items()
        )
        yield table(("problem", "pass", "formats", "message"), rows)
