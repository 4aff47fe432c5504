"""A certificate as text for a terminal."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from spec.certification.judging.judging import PARTS
from spec.certification.judging.verdict import ASKED, Verdict
from spec.certification.ledger.causes import WIDTH, causes, counterexamples, filled
from spec.certification.ledger.certificate import Certificate, grouped
from spec.certification.ledger.files import written
from spec.certification.target.recognising import LOOKS
from spec.clause import section_of

WORDS = {0: "certified", 1: "not certified", 3: "incomplete"}
MARKS = {
    "holds": "·",
    "violated": "✗",
    "violated should": "~",
    "deviates": "≠",
    "not offered": " ",
    "refused": "-",
    "blocked": "?",
    "crashed": "!",
}

NUMBERS = re.compile(r"\d+(?:[^\w\n]+\d+)*")  # a number, or several with signs alone between them


def report(certificate: Certificate) -> str:
    """The whole certificate: verdict, table, what needs saying, counterexamples, ledger.

    Where there are causes these come first, and the figures last.
    """
    why, figures = [*causes(certificate)], _table(certificate)
    first, last = ([figures], []) if not why else (why, [_figures(certificate)])
    parts = [
        _head(certificate),
        *first,
        _remarks(certificate),
        *counterexamples(certificate),
        "\n".join([*last, _foot(certificate)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def save_report(certificate: Certificate, folder: Path) -> None:
    """certificate.txt, certificate.json, and a script for each violation that has one."""
    written(folder / "certificate.txt", report(certificate))
    certificate.save(folder / "certificate.json")
    for place, cause in enumerate(certificate.causes, start=1):
        if cause.counterexample is not None and cause.counterexample.script:
            written(folder / f"cause-{place}.py", cause.counterexample.script)
    for verdict in certificate.verdicts:
        example = verdict.counterexample
        if example is not None and example.script and not verdict.causes:
            written(folder / f"{verdict.clause}-{verdict.dtype}.py", example.script)


def _head(certificate: Certificate) -> str:
    title = f"{certificate.name}: {_verdict(certificate)}"
    named = ", ".join(
        f"{name}={value}"
        for name, value in certificate.conventions.items()
        if certificate.defaults.get(name, "strict") != value
    )
    versions = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    lines = [
        *(title, "=" * len(title), ""),
        f"conventions   {named or 'all default'}",
        f"with          {versions}",
        *[f"compiled      {certificate.compiled}"] * bool(certificate.compiled),
        f"profile       {certificate.profile}, seed {certificate.seed}",
        *(f"note          {note}" for note in certificate.notes),
    ]
    return "\n".join(lines)


def _verdict(certificate: Certificate) -> str:
    """In a word, or in a few where it is certified in spite of something."""
    count, word = len(certificate.deviations), WORDS[certificate.exit_code]
    where = f" where {certificate.where}" if certificate.where else ""
    if certificate.passed and count:
        return f"{word}{where} but for {count} deviation{'s' * (count != 1)}"
    if certificate.causes and not certificate.passed:
        count = len(certificate.causes)
        return f"{word}{where}, for {count} cause{'s' * (count != 1)}"
    return word + where


def _table(certificate: Certificate) -> str:
    """A line for each section, its verdicts by dtype; one for each clause with something to say."""
    lines = ["section  " + "".join(f"{dtype:<22}" for dtype in certificate.dtypes)]
    for section, verdicts in grouped((_section(v), v) for v in _by_clause(certificate)).items():
        cells = [_cell([v for v in verdicts if v.dtype == d]) for d in certificate.dtypes]
        lines.append(f"{section:<9}" + "".join(f"{cell:<22}" for cell in cells).rstrip())
    return "\n".join(lines)


def _figures(certificate: Certificate) -> str:
    """How many clauses of each section hold, if not all are refused; like dtypes together."""
    found: dict[str, list[str]] = {}
    for dtype in certificate.dtypes:
        mine = [v for v in certificate.verdicts if v.dtype == dtype and v.outcome != "not offered"]
        cells = [
            f"{section} {sum(v.outcome == 'holds' for v in verdicts)}/{len(verdicts)}"
            for section, verdicts in grouped((_section(v), v) for v in mine).items()
            if any(v.outcome != "refused" for v in verdicts)
        ]
        found.setdefault(", ".join(cells) or "not judged", []).append(dtype)
    return "\n".join(filled(f"{', '.join(dtypes)}: ", held) for held, dtypes in found.items())


def _cell(verdicts: list[Verdict]) -> str:
    """How many of a section's clauses hold, and what is the matter with the others."""
    ran = [v for v in verdicts if v.outcome != "not offered"]
    if not ran:
        return "not offered"
    held = sum(v.outcome == "holds" for v in ran)
    others = [_kind(v) for v in ran if v.outcome != "holds"]
    counted = [f"{others.count(o)}{MARKS[o]}" for o in MARKS if o in others]
    worst = max(v.worst for v in ran)
    words = " ".join([f"{held}/{len(ran)}", *counted])
    return f"{words}  {worst:.2f}" if held == len(ran) else words


def _kind(verdict: Verdict) -> str:
    soft = verdict.outcome == "violated" and verdict.force == "should"
    return "violated should" if soft else verdict.outcome


def _remarks(certificate: Certificate) -> str:
    """A line for whatever is not a plain `holds`, those of several clauses or dtypes in one."""
    blocked = [v for v in _by_clause(certificate) if v.outcome == "blocked"]
    lines = [*_violated(certificate), *_for_one_reason(certificate, "deviates")]
    if blocked:
        lines.append(f"blocked: {len(blocked)} not run, {blocked[0].message}")
    lines += _for_one_reason(certificate, "crashed")
    lines += _left_out(certificate)
    mended = " ".join(cause.lens for cause in certificate.causes)
    lines += [line for line in certificate.advice if line.removeprefix(LOOKS) not in mended]
    told = dict.fromkeys(v.likewise for v in certificate.verdicts if v.likewise)
    lines += [textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in told]
    return "\n".join(lines)


def _violated(certificate: Certificate) -> Iterator[str]:
    """Each clause that is violated for no known cause, its dtypes where the same is wrong."""
    violated = [v for v in _by_clause(certificate) if v.outcome == "violated" and not v.causes]
    # Of what blocks nothing, one message is enough.
    first = {v.clause: v.message for v in reversed(violated) if v.force == "should"}
    said = ((v, first.get(v.clause, v.message)) for v in violated)
    keyed = (((f"{v.clause} {v.name}", v.force, message), v.dtype) for v, message in said)
    for (clause, force, message), dtypes in grouped(keyed).items():
        soft = " (should)" if force == "should" else ""
        yield f"violated{soft}: {clause} [{', '.join(dtypes)}]"
        if not (soft and certificate.causes):
            yield textwrap.indent(textwrap.fill(message, WIDTH - 4), "    ")


def _for_one_reason(certificate: Certificate, outcome: str) -> Iterator[str]:
    """A line for each reason to deviate or to crash, with all clauses that it concerns."""
    grouped: dict[str, tuple[dict[str, str], dict[str, None]]] = {}
    shown: dict[str, str] = {}  # of those that differ in what was asked last, the first
    for v in _by_clause(certificate):
        if v.outcome == outcome:
            reason = shown.setdefault(v.message.partition(ASKED)[0], v.message)
            names, dtypes = grouped.setdefault(reason, ({}, {}))
            names[v.clause], dtypes[v.dtype] = v.name, None
    said = {v.message for v in certificate.verdicts}
    for r in certificate.refusals:
        if outcome == "crashed" and r.crashed and r.message not in said:
            names, dtypes = grouped.setdefault(r.message, ({}, {}))
            names[r.what.removeprefix("takes ")], dtypes[r.dtype] = "", None
    for message, (names, dtypes) in grouped.items():
        alone = " ".join([*names, *names.values()]).strip() if len(names) == 1 else ""
        listed = f"{outcome}: {alone or ', '.join(names)} [{', '.join(dtypes)}]"
        yield textwrap.fill(listed, WIDTH, subsequent_indent="    ")
        yield textwrap.indent(textwrap.fill(message, WIDTH - 4), "    ")


def _left_out(certificate: Certificate) -> Iterator[str]:
    """What is refused, with the message, and what is not offered."""
    refused = [r for r in certificate.refusals if not r.crashed]
    keyed = (((r.what, r.direction, r.message), r.dtype) for r in refused)
    for (what, direction, message), dtypes in grouped(keyed).items():
        way = ", backward" if direction == "backward" else ""
        yield f"refused: {what}{way} [{', '.join(dtypes)}]: {textwrap.shorten(message, 160)}"
    yield from _sometimes_refused(certificate)
    absent = [v for v in certificate.verdicts if v.outcome == "not offered"]
    needing = grouped((what, v.clause) for v in absent for what in v.message.split("; "))
    missing = {what: frozenset(numbers) for what, numbers in needing.items()}
    if missing:  # what is needed only beside something that is missing as well is told with it
        first = {x: n for x, n in missing.items() if not any(n < y for y in missing.values())}
        counted = ((*x.split(maxsplit=1), _clauses(len(numbers))) for x, numbers in first.items())
        alike = groupby(counted, itemgetter(0))  # the first word is said once
        parts = (f"{verb} {', '.join(f'{x} ({n})' for _, x, n in same)}" for verb, same in alike)
        listed = f"not offered, of what clauses need: {'; '.join(parts)}"
        yield textwrap.fill(listed, WIDTH, subsequent_indent="    ")


def _sometimes_refused(certificate: Certificate) -> Iterator[str]:
    """Problems that were refused one by one, though their kind is not: a line for each reason.

    One that names the sizes is one reason, whatever these are, and shown as it was said most often.
    """
    reasons: dict[str, Counter[str]] = {}
    for v in certificate.verdicts:
        if v.outcome in ("holds", "refused") and v.refused:
            reason = NUMBERS.sub("#", v.message)
            reasons.setdefault(reason, Counter())[v.message] += v.refused
    total = sum(v.examples + v.refused for v in certificate.verdicts)
    for said in reasons.values():
        (message, _), *others = said.most_common()
        shown = textwrap.shorten(message, 160) + " (or with other numbers)" * bool(others)
        yield f"sometimes refused: {said.total()} of {total} problems: {shown}"


def _foot(certificate: Certificate) -> str:
    """Coverage, time, the ledger that adds up, and what to run to see it again."""
    lines = []
    for dtype, shares in {} if certificate.causes else certificate.coverage.items():
        lines.append(
            f"coverage {dtype:<9} {shares['rows']:.0f} rows, {shares['capped']:.1%} held to the "
            f"hull only, {shares['silent']:.1%} without a claim on gradients"
        )
    t = {part: certificate.timings.get(part, 0.0) for part in ("total", *PARTS)}
    parts = ", ".join(f"{words} {t[part]:.1f}" for part, words in PARTS.items())
    together = sum(t.values()) - t["total"]
    spent = f"{t['total']:.1f} s; in all processes together {together:.1f}: {parts}"
    lines.append(textwrap.fill(f"time     {spent}", WIDTH, subsequent_indent=" " * 9))
    lines += [f"programs {certificate.programs} compiled"] * bool(certificate.programs)
    counted = " + ".join(f"{count} {o}" for o, count in certificate.ledger.items() if count)
    lines.append(f"verdicts {counted} = {len(certificate.verdicts)}")
    if not certificate.causes:
        lines.append(f"worst    {certificate.worst:.3f} of a budget, where clauses hold")
    lines.append(f"repeat   {certificate.command}")
    return "\n".join(lines)


def _by_clause(certificate: Certificate) -> list[Verdict]:
    found = grouped((v.clause, v) for v in certificate.verdicts)
    return [v for verdicts in found.values() for v in verdicts]


def _section(verdict: Verdict) -> str:
    return section_of(verdict.clause)


def _clauses(count: int) -> str:
    return "1 clause" if count == 1 else f"{count} clauses"
