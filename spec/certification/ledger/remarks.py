"""The lines of a certificate about everything that is not a plain `holds`, one for each reason."""

import textwrap
from collections import Counter
from collections.abc import Iterator

from spec.backends.shapes import RAISED
from spec.certification.diagnosing.raising import parted, pattern
from spec.certification.judging.verdict import ASKED, Verdict
from spec.certification.ledger.causes import TYPED, WIDTH, filled
from spec.certification.ledger.findings import Findings, grouped
from spec.certification.ledger.untested import in_nouns, not_supported
from spec.certification.target.recognising import LOOKS

SHOWN = 10  # failures without a cause
FOLLOWING = ", and test again: causes below may follow from it"
IN_FILES = "--json FILE or --report FOLDER has all failures"


def remarks(certificate: Findings) -> str:
    """A line for whatever is not a plain `holds`, those of several clauses or dtypes in one."""
    blocked = [v for v in by_clause(certificate) if v.outcome == "blocked"]
    lines = [*violated(certificate), *_for_one_reason(certificate, "deviates")]
    if blocked:
        lines.append(f"blocked: {len(blocked)} not run, {blocked[0].message}")
    lines += _for_one_reason(certificate, "crashed")
    lines += _left_out(certificate)
    told = dict.fromkeys(v.likewise for v in certificate.verdicts if v.likewise)
    lines += [textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in told]
    return "\n".join(lines)


def advice(certificate: Findings) -> str:
    """The conventions that the target seems to follow, but for those that a cause already names."""
    known = {x for cause in certificate.causes for x in TYPED.findall(cause.lens)}
    return "\n".join(x for x in certificate.advice if not {*(TYPED.findall(x) or [x])} <= known)


def first(certificate: Findings) -> str:
    """The same as a report begins, where what to do about a convention comes first."""
    ends = FOLLOWING * bool(certificate.causes)
    lines = advice(certificate).splitlines()
    told = (f"First: this {x}{ends}" if x.startswith(LOOKS) else x for x in lines)
    return "\n".join(filled("", x) for x in told)


def violated(certificate: Findings, all_of_them: str = IN_FILES) -> Iterator[str]:
    """Each clause that is violated for no known cause, its dtypes where the same is wrong.

    The first few in full, those that should hold alone last; then how many more there are, and
    how to see all of them.
    """
    known = {id(v) for v in certificate.failures if not v.causes}
    failed = [v for v in by_clause(certificate) if id(v) in known]
    failed.sort(key=lambda v: v.force == "should")
    # Of what blocks nothing, one message is enough.
    first = {v.clause: v.message for v in reversed(failed) if v.force == "should"}
    said = ((v, first.get(v.clause, v.message)) for v in failed)
    keyed = (((f"{v.clause} {v.name}", v.force, message), v.dtype) for v, message in said)
    found = [*grouped(keyed).items()]
    for (clause, force, message), dtypes in found[:SHOWN]:
        soft = " (should)" if force == "should" else ""
        yield f"fails{soft}: {clause} [{', '.join(dtypes)}]"
        if not (soft and certificate.causes):
            yield textwrap.indent(textwrap.fill(message, WIDTH - 4), "    ")
    shown = {clause for (clause, *_), _ in found[:SHOWN]}
    if more := {clause for (clause, *_), _ in found} - shown:
        fail = "clause fails" if len(more) == 1 else "clauses fail"
        yield f"{len(more)} more {fail}: {all_of_them}"


def _for_one_reason(certificate: Findings, outcome: str) -> Iterator[str]:
    """A line for each reason to deviate or to crash, with all clauses that it concerns."""
    grouped: dict[str, tuple[dict[str, str], dict[str, None]]] = {}
    shown: dict[str, str] = {}  # of those that differ in what was asked last, the first
    for v in by_clause(certificate):
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


def _left_out(certificate: Findings) -> Iterator[str]:
    """Yield lines on problems that raise an exception, and on what is not supported."""
    refused = [r for r in certificate.refusals if not r.crashed]
    keyed = (((r.what, r.direction, r.message), r.dtype) for r in refused)
    for (what, direction, message), dtypes in grouped(keyed).items():
        way = ", backward" if direction == "backward" else ""
        text, ends, shapes = message.partition(RAISED)
        said = f"{textwrap.shorten(text, 160)}{ends}{shapes}"
        yield f"unsupported: {in_nouns(what)}{way} [{', '.join(dtypes)}]: {said}"
    yield from _sometimes_refused(certificate)
    for listed in not_supported(certificate.verdicts):
        yield textwrap.fill(listed, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _sometimes_refused(certificate: Findings) -> Iterator[str]:
    """Yield a line for each reason of `sometimes`, and the script of the smallest call."""
    for said, script in sometimes(certificate):
        yield f"sometimes raises: {said}"
        if script:
            yield textwrap.indent(script.rstrip(), "    ")


def sometimes(certificate: Findings) -> Iterator[tuple[str, str]]:
    """Yield each reason why single problems of a supported kind were refused, and a script.

    Messages that differ in sizes are one reason, which is printed in its most frequent form.
    """
    reasons: dict[str, Counter[str]] = {}
    conditions: dict[str, Counter[tuple[str, str]]] = {}
    for v in certificate.verdicts:
        if v.outcome in ("holds", "refused") and v.refused:
            message, condition = parted(v.message)
            reasons.setdefault(pattern(message), Counter())[message] += v.refused
            known = conditions.setdefault(pattern(message), Counter())
            known[condition, v.script] += 2 * bool(condition) + bool(v.script)
    total = sum(v.examples + v.refused for v in certificate.verdicts)
    for reason, said in reasons.items():
        (message, _), *others = said.most_common()
        (((condition, script), _),) = conditions[reason].most_common(1)
        shown = textwrap.shorten(message, 160) + " (or with other numbers)" * bool(others)
        where = f", with {condition}" * bool(condition)
        yield f"{said.total()} of {total} problems{where}: {shown}", script


def by_clause(certificate: Findings) -> list[Verdict]:
    """The verdicts, those of a clause side by side."""
    found = grouped((v.clause, v) for v in certificate.verdicts)
    return [v for verdicts in found.values() for v in verdicts]
