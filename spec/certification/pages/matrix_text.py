"""The matrix as text: a table for a terminal, and a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spec.certification.ledger.causes import filled
from spec.certification.ledger.text import largest
from spec.certification.pages.judged import UNJUDGED, Judged
from spec.certification.pages.matrix import GRAVITY, Chapter, Line, State, chapters, shortened
from spec.clause import Clause

LEGEND = (
    "✓ all clauses pass, ✗ a required clause fails, ~ only recommended clauses fail, ≈ only bits "
    "differ that nobody promised, ≠ fails as declared, - raised an exception, ! crashed, "
    "? not run; empty: not supported, so not tested"
)


def table(judged: Sequence[Judged], clauses: Mapping[str, Clause]) -> str:
    """The table for a terminal: lines for each implementation, a sign for each section."""
    parts = ["\n".join(_table(chapter)) for chapter in chapters(judged, clauses)]
    return "\n\n".join([*parts, filled("", LEGEND)])


def _table(chapter: Chapter) -> Iterator[str]:
    name = max(len(line.judged.name) for line in chapter.lines)
    origin = max(len(_origin(line)) for line in chapter.lines)
    verdict = max(len(line.verdict) for line in chapter.lines)
    yield f"{'':<{name}}  {'':<{origin}}  {'':<{verdict}}  {' '.join(chapter.sections)}"
    for line in chapter.lines:
        signs = " ".join(f"{gravest(line.sections.get(x, ())):1}" for x in chapter.sections)
        head = f"{line.judged.name:<{name}}  {_origin(line):<{origin}}  {line.verdict:<{verdict}}"
        yield f"{head}  {signs}".rstrip()
        if line.judged.certificate.causes:
            yield filled("    ", line.region)
        if sizes := largest(line.judged.certificate):
            yield filled("    ", f"largest: {sizes}")


def _origin(line: Line) -> str:
    return f"{line.judged.library} {line.judged.version}".strip()


def gravest(states: Sequence[State]) -> str:
    """The sign of the gravest outcome of all dtypes."""
    worst = min(states, key=lambda state: GRAVITY.index(state.outcome), default=None)
    return worst.sign if worst else ""


def markdown(judged: Sequence[Judged], clauses: Mapping[str, Clause]) -> str:
    """A page of Markdown: a table by section, one by option, and all failures."""
    lines = ["# Implementations, judged", "", LEGEND, ""]
    for chapter in chapters(judged, clauses):
        lines += [f"## {chapter.noun[0].upper()}{chapter.noun[1:]}", ""]
        lines += [*_by_section(chapter), ""]
        lines += [*_by_option(chapter), ""] if chapter.options else []
        for line in chapter.lines:
            lines += [*_told(line, clauses), ""]
    return "\n".join(lines).rstrip() + "\n"


def _by_section(chapter: Chapter) -> Iterator[str]:
    yield _cells("", "library", "verdict", *chapter.sections, "region")
    yield "|" + "---|" * (len(chapter.sections) + 4)
    for line in chapter.lines:
        signs = (_linked(line, line.sections.get(x, ())) for x in chapter.sections)
        named = f"[{plain(line.judged.name)}](#{line.id})"
        origin, verdict, region = map(plain, (_origin(line), line.verdict, line.region))
        yield _cells(named, origin, verdict, *signs, region)


def _by_option(chapter: Chapter) -> Iterator[str]:
    """Yield the table with a row for each option, as their names are long."""
    yield _cells("", *(plain(line.judged.name) for line in chapter.lines))
    yield "|" + "---|" * (len(chapter.lines) + 1)
    for option in chapter.options:
        signs = (_linked(line, line.options.get(option, ())) for line in chapter.lines)
        yield _cells(plain(shortened(option)), *signs)


def _linked(line: Line, states: Sequence[State]) -> str:
    """The sign, with a link to the failures."""
    sign = gravest(states)
    return f"[{plain(sign)}](#{line.id})" if sign not in ("", "✓") else sign


def _told(line: Line, clauses: Mapping[str, Clause]) -> Iterator[str]:
    """Yield an implementation: its verdict, region and causes, with their judgements."""
    yield f'### <a id="{line.id}"></a>{plain(line.judged.name)}'
    yield from ("", f"{plain(_origin(line))}: {plain(line.verdict)}.", "")
    yield f"Region: {plain(line.region)}"
    if sizes := largest(line.judged.certificate):
        yield from ("", f"Largest: {plain(sizes)}")
    for cause, said in line.judged.pairs:
        kind = plain(said.get("kind", UNJUDGED))
        sentence = cause.sentence if cause else said.get("sentence", "")
        yield from ("", f"* **{kind}**: {plain(sentence)}")
        for name in ("words", "documentation", "issue", "script"):
            if said.get(name):
                yield f"  {plain(said[name])}"
        if cause is not None and cause.counterexample is not None:
            yield f"  Smallest: {plain(cause.counterexample.message)}"
    yield from _broken(line, clauses)


def _broken(line: Line, clauses: Mapping[str, Clause]) -> Iterator[str]:
    """Yield the clauses that fail without a known cause."""
    for by_number in line.broken.values():
        for number, verdicts in by_number.items():
            if any(v.causes or v.outcome == "refused" for v in verdicts):
                continue
            claim = clauses[number].sentence if number in clauses else verdicts[0].name
            formats = ", ".join(v.dtype for v in verdicts)
            yield from ("", f"* {verdicts[0].outcome}: {number} {plain(claim)} [{formats}]")


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text of others without characters that mean something in Markdown."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{x}" if x in r"\`*_[]|#~" else x for x in text)
