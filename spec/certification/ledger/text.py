"""A certificate as text for a terminal."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from spec.backends.calling import UNTESTED
from spec.certification.judging.edition import COMMITMENT, ISOLATION, NONCE, OURS, THEIRS
from spec.certification.judging.judging import PARTS
from spec.certification.judging.verdict import INTERFERED, Verdict
from spec.certification.ledger.causes import WIDTH, causes, counterexamples, filled
from spec.certification.ledger.files import written
from spec.certification.ledger.findings import Findings, blocks, grouped
from spec.certification.ledger.outcomes import SAID, applying, outcome
from spec.certification.ledger.promised import same_bits
from spec.certification.ledger.remarks import by_clause, first, remarks, sometimes
from spec.certification.ledger.untested import first_lines, says_so
from spec.clause import section_of
from spec.kinds import kind_of
from spec.notation import HALF

WORDS = {0: "certified", 1: "not certified", 3: "incomplete"}
QUICKLY = " (quick)"  # behind what is certified with the fewest problems
AS_FAR = ": passed as far as tested"  # of what is incomplete
LEGEND = "passed/applicable clauses"
FRACTION = ", and their largest error as a fraction of its bound"


def report(certificate: Findings) -> str:
    """The whole certificate: verdict, causes or else a table, remarks, counterexamples, figures."""
    parts = [
        _head(certificate),
        first(certificate),
        *([*causes(certificate)] or [_table(certificate)]),
        remarks(certificate),
        *counterexamples(certificate),
        _foot(certificate),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def save_report(certificate: Findings, folder: Path) -> None:
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


def _head(certificate: Findings) -> str:
    title = f"{certificate.name}: {in_short(certificate)}"
    named = ", ".join(
        f"{name}={value}"
        for name, value in certificate.conventions.items()
        if certificate.defaults.get(name, "strict") != value
    )
    told = {n: f"{n} {version}" for n, version in certificate.versions.items()}
    if OURS in told:
        told[OURS] = f"{OURS} {certificate.specification} {certificate.versions[OURS]}"
    hashed = [told.pop(name) for name in (OURS, THEIRS) if name in told]
    for name in (COMMITMENT, NONCE):
        told.pop(name, None)
    isolated = told.pop(ISOLATION, "").removeprefix(f"{ISOLATION} ")
    lines = [
        *(title, "=" * len(title), ""),
        *[f"target        {certificate.source}"] * bool(certificate.source),
        *_row("clauses", applying(certificate)),
        *(
            line
            for words in first_lines(certificate.refusals, certificate.notes)
            for line in _row("not tested", words.removeprefix(UNTESTED))
        ),
        *(line for words, _ in sometimes(certificate) for line in _row("raises", words)),
        f"conventions   {named or 'all default'}",
        *_row("same bits", same_bits(certificate)) * bool(same_bits(certificate)),
        *(line for words in _raised(certificate) for line in _row("rounding", words)),
        f"with          {', '.join(told.values())}",
        *[f"hashes        {', '.join(hashed)}"] * bool(hashed),
        *[f"isolation     {isolated}"] * bool(isolated),
        *[f"compiled      {certificate.compiled}"] * bool(certificate.compiled),
        f"profile       {certificate.profile}, {_seed(certificate)}",
        *[f"largest       {largest(certificate)}"] * bool(certificate.largest),
        *(f"note          {note}" for note in certificate.notes if not says_so(note)),
    ]
    return "\n".join(lines)


def _raised(certificate: Findings) -> Iterator[str]:
    """For each format, the first clause that needs more than the strict rounding model, and why."""
    for dtype in HALF:
        grade = certificate.conventions.get(f"rounding {dtype}")
        needing = (v for v in certificate.verdicts if v.raised and v.dtype == dtype)
        first = next((v for v in needing if v.rounding == grade), None)
        if first is not None:
            yield f"{dtype}={grade}, as {first.clause} has {first.raised}"


def _seed(certificate: Findings) -> str:
    """The seed, with all that shows that nobody knew a secret one beforehand."""
    known, seed = certificate.versions, certificate.seed
    if COMMITMENT not in known:
        return f"public seed {seed}"
    committed = f"{COMMITMENT}    sha256 {known[COMMITMENT]}"
    return f'secret seed {seed}\n{committed}\n              of "{seed}:{known[NONCE]}"'


def _row(title: str, words: str) -> list[str]:
    """The lines for one thing that the head of a report says."""
    indent = " " * 14
    return textwrap.wrap(
        f"{title:<14}{words}", WIDTH, subsequent_indent=indent, break_on_hyphens=False
    )


def in_short(certificate: Findings) -> str:
    """In a few words: in spite of what it is certified, and what the target says of itself."""
    said = ", ".join(f"{name}={value}" for name, value in certificate.declares.items())
    under = f", under conventions it declares itself: {said}" if said else ""
    return f"{_judged(certificate)}{under}"


def largest(certificate: Findings) -> str:
    """The largest of each size of the problems that were judged, in words."""
    return ", ".join(f"{name}={size}" for name, size in certificate.largest.items())


def in_a_row(certificate: Findings) -> tuple[str, ...]:
    """As it begins, and its figures; a broken `should` is not counted as violated."""
    musts = sum(map(blocks, certificate.failures))
    counts = (certificate.ledger["holds"], musts, len(certificate.failures) - musts)
    return (in_short(certificate), *map(str, counts), f"{certificate.timings['total']:.1f}")


def _judged(certificate: Findings) -> str:
    """In a word, or in a few where it is certified in spite of something."""
    count, word = len(certificate.deviations), WORDS[certificate.exit_code]
    word += QUICKLY * (certificate.passed and certificate.profile == "quick")
    if certificate.interfered:
        return f"{word}, as {INTERFERED} with its judge"
    where = f" where {certificate.where}" if certificate.where else ""
    if certificate.passed and count:
        return f"{word}{where} but for {count} deviation{'s' * (count != 1)}"
    if certificate.causes and not certificate.passed:
        count = len(certificate.causes)
        return f"{word}{where}, for {count} cause{'s' * (count != 1)}"
    return f"{word}{where}{AS_FAR * _passes_so_far(certificate)}"


def _passes_so_far(certificate: Findings) -> bool:
    """Whether it is incomplete, but all that was tested passes, and nothing crashed."""
    met = {verdict.outcome for verdict in certificate.verdicts}
    lost = "crashed" in met or any(refusal.crashed for refusal in certificate.refusals)
    return certificate.exit_code == 3 and {"holds", "blocked"} <= met and not lost


def _table(certificate: Findings) -> str:
    """A line for each section that was tested, with a cell for each dtype, and a legend."""
    words = kind_of(certificate.about).sections
    rows, fraction = [["section", *certificate.dtypes]], ""
    ran = (v for v in by_clause(certificate) if v.outcome != "not offered")
    for section, verdicts in grouped((_section(v), v) for v in ran).items():
        parts = [[v for v in verdicts if v.dtype == d] for d in certificate.dtypes]
        rows.append([f"{section} {words.get(section, '')}".rstrip(), *map(_cell, parts)])
        fraction = FRACTION if any(map(_passes, parts)) else fraction
    widths = [2 + max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (map(str.ljust, row, widths) for row in rows)
    table = ["".join(row).rstrip() for row in padded]
    there = {outcome(v) for v in certificate.verdicts}
    met = (f"; {x.cell}: {x.meaning}" for name, x in SAID.items() if x.meaning and name in there)
    return "\n".join([*table, "", filled("", f"{LEGEND}{fraction}{''.join(met)}")])


def _cell(ran: list[Verdict]) -> str:
    """How many of a section's clauses hold, and what is the matter with the others."""
    if not ran:
        return "-"
    held = f"{sum(v.outcome == 'holds' for v in ran)}/{len(ran)}"
    if _passes(ran):
        return f"{held}  {max(v.worst for v in ran):.2f}"
    found = Counter(map(outcome, ran))
    others = (f"{found[o]} {x.cell}" for o, x in SAID.items() if x.cell and found[o])
    return ", ".join([held, *others])


def _passes(ran: list[Verdict]) -> bool:
    """Whether there are clauses, and all of them hold."""
    return bool(ran) and all(v.outcome == "holds" for v in ran)


def _foot(certificate: Findings) -> str:
    """Coverage, time, the ledger that adds up, and what to run to see it again."""
    lines = []
    for dtype, shares in {} if certificate.causes else certificate.coverage.items():
        lines.append(
            f"coverage {dtype:<9} {shares['rows']:.0f} rows; rounding leaves only the range of "
            f"the values for {shares['capped']:.1%}, no bound on gradients for "
            f"{shares['silent']:.1%}"
        )
    t = {part: certificate.timings.get(part, 0.0) for part in ("total", *PARTS)}
    parts = ", ".join(f"{words} {t[part]:.1f}" for part, words in PARTS.items())
    together = sum(t.values()) - t["total"]
    spent = f"{t['total']:.1f} s; in all processes together {together:.1f}: {parts}"
    lines.append(textwrap.fill(f"time     {spent}", WIDTH, subsequent_indent=" " * 9))
    lines += [_programs(certificate)] * bool(certificate.programs)
    found = Counter(map(_counted, certificate.verdicts))
    counted = " + ".join(f"{found[name]} {x.words}" for name, x in SAID.items() if found[name])
    lines.append(f"verdicts {counted} = {len(certificate.verdicts)}")
    if not certificate.causes:
        lines.append(f"worst    the largest error is {certificate.worst:.3f} of its bound")
    lines.append(f"repeat   {certificate.command}")
    return "\n".join(lines)


def _counted(verdict: Verdict) -> str:
    """The outcome under which a verdict is counted: bits that nobody promised are no failure."""
    found = outcome(verdict)
    return found if found == "violated promise" else verdict.outcome


def _programs(certificate: Findings) -> str:
    """How many programs were compiled, and of these for clauses: the estimate is about those."""
    tested, total = sum(v.programs for v in certificate.verdicts), certificate.programs
    causes = " and to find causes" * bool(certificate.causes)
    others = f": {tested} to test clauses, {total - tested} to probe the target{causes}"
    return f"programs {total} compiled{others * (0 < tested < total)}"


def _section(verdict: Verdict) -> str:
    return section_of(verdict.clause)
