"""A certificate in short: the part that a repository keeps, to compare later ones with.

It omits the figures of each clause, the words that draw problems again, and the place of the target
on a machine. It has verdicts by outcome, and whole causes with their smallest problems and the
scripts that a person reads.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.verdict import Verdict, unrun
from spec.certification.ledger.causes import ranges
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import grouped
from spec.certification.target.probed import Refusal
from spec.clause import NUMBER, Clause, section_of
from spec.kinds import kind_of
from spec.notation import DTYPES
from spec.version import FIRST

LONG = 40_000  # characters, of a script that nobody reads: a kernel may take no small problem
DIGITS = 4  # of the last number of a range
FOUND = re.compile(r"(?:import sys\n)?sys\.path\.insert\(.*\)\n")  # in a script
SAME = ("name", "about", "profile", "seed", "command", "where", "compiled", "notes", "advice")


def brief(certificate: Certificate) -> dict[str, Any]:
    """A certificate in short, as JSON."""
    refused = grouped(
        ((r.what, r.direction, r.message, r.crashed), r.dtype) for r in certificate.refusals
    )
    return {
        **{name: getattr(certificate, name) for name in SAME},
        "specification": certificate.specification,
        "versions": dict(certificate.versions),
        "conventions": dict(certificate.conventions),
        "declares": dict(certificate.declares),
        "seconds": round(certificate.timings["total"], 1),
        "programs": certificate.programs,
        "largest": dict(certificate.largest),
        "outcomes": {dtype: _outcomes(certificate, dtype) for dtype in certificate.dtypes},
        "worst": {dtype: _worst(certificate, dtype) for dtype in certificate.dtypes},
        "said": _said(certificate),
        "refusals": [[*what, dtypes] for what, dtypes in refused.items()],
        "region": vars(certificate.region),
        "causes": [_in_short(cause).to_json() for cause in certificate.causes],
    }


def in_full(written: Mapping[str, Any], clauses: Mapping[str, Clause]) -> Certificate:
    """The certificate that was kept in short; omitted parts are empty."""
    kind = kind_of(written["about"])
    causes = tuple(map(Cause.from_json, written["causes"]))
    refusals = [
        Refusal(what, dtype, direction, message, crashed)
        for what, direction, message, crashed, dtypes in written["refusals"]
        for dtype in dtypes
    ]
    same = {name: written[name] for name in SAME}
    same |= {name: tuple(written[name]) for name in ("notes", "advice")}
    return Certificate(
        **same,
        verdicts=tuple(_verdicts(written, clauses, causes)),
        conventions=written["conventions"],
        declares=written.get("declares", {}),  # there is none in what was kept before
        coverage={},
        timings={"total": written["seconds"]},
        versions=written["versions"],
        refusals=tuple(refusals),
        definition=kind.definition,
        defaults=kind.truth().defaults,
        causes=causes,
        region=Region.from_json(written["region"]),
        programs=written["programs"],
        specification=written.get("specification", FIRST),  # older ones do not say it
        largest=written.get("largest", {}),  # nor this
    )


def _in_short(cause: Cause) -> Cause:
    """A cause without a long script, and without the place of its target on this machine."""
    example = cause.counterexample
    if example is None:
        return cause
    script = FOUND.sub("", example.script) if len(example.script) < LONG else ""
    return replace(cause, counterexample=replace(example, script=script))


def _said(certificate: Certificate) -> dict[str, dict[str, str]]:
    """Outcome -> reason, in the first format that has it -> the numbers of clauses."""
    said: dict[tuple[str, str], str] = {}
    for v in certificate.verdicts:
        if v.message and v.outcome != "holds" and not v.causes:
            said.setdefault((v.outcome, v.clause), v.message)
    found: dict[str, dict[str, list[str]]] = {}
    for (outcome, number), message in said.items():
        found.setdefault(outcome, {}).setdefault(message, []).append(number)
    return {x: {why: ranges(numbers) for why, numbers in y.items()} for x, y in found.items()}


def _outcomes(certificate: Certificate, dtype: str) -> dict[str, str]:
    """The numbers of the clauses with each outcome, successive ones as S1-S5."""
    mine = (v for v in certificate.verdicts if v.dtype == dtype)
    return {
        x: ranges(numbers) for x, numbers in grouped((v.outcome, v.clause) for v in mine).items()
    }


def _worst(certificate: Certificate, dtype: str) -> dict[str, float]:
    """The largest share of an error bound in each section, of clauses that pass."""
    held = (v for v in certificate.verdicts if v.dtype == dtype and v.outcome == "holds")
    shares = grouped((section_of(v.clause), v.worst) for v in held)
    return {section: round(max(found), 3) for section, found in shares.items()}


def _verdicts(
    written: Mapping[str, Any], clauses: Mapping[str, Clause], causes: Sequence[Cause]
) -> Iterator[Verdict]:
    """Yield the verdicts in reading order."""
    outcome = {(n, dtype): x for dtype, y in written["outcomes"].items() for n, x in _told(y)}
    said = {(x, n): why for x, y in written["said"].items() for n, why in _told(y)}
    formats = [dtype for dtype in DTYPES if dtype in written["outcomes"]]
    for number, clause in clauses.items():
        for dtype in formats:
            if (word := outcome.get((number, dtype))) is not None:
                found = unrun(clause, dtype, word, said.get((word, number), ""))
                yield _ran(found, written, causes)


def _told(numbers: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield each clause of several ranges, with the word before its range."""
    return ((number, word) for word, found in numbers.items() for number in numbered(found))


def _ran(verdict: Verdict, written: Mapping[str, Any], causes: Sequence[Cause]) -> Verdict:
    """The verdict on a clause that was tested on at least one problem, if it was."""
    number, dtype = verdict.clause, verdict.dtype
    if verdict.outcome == "holds":
        worst = written["worst"][dtype].get(section_of(number), 0.0)
        return replace(verdict, examples=1, worst=worst)
    if verdict.outcome not in ("violated", "deviates"):
        return verdict
    met = (i for i, x in enumerate(causes) if number in x.clauses and dtype in x.dtypes)
    return replace(verdict, examples=1, causes=(*met,) if verdict.outcome == "violated" else ())


def numbered(text: str) -> list[str]:
    """The numbers of clauses that `ranges` wrote."""
    return [*chain.from_iterable(map(_run, text.split(", ")))]


def _run(text: str) -> Iterator[str]:
    """Yield the numbers of one range. Raises ValueError for a word that is no number."""
    first, _, last = text.partition("-")
    if not NUMBER.fullmatch(first) or len(last) > DIGITS:
        raise ValueError(f"{text!r} is no range of clauses")
    section = section_of(first)
    begin = int(first[len(section) :])
    end = int(last[len(section) :]) if last else begin
    return (f"{section}{n}" for n in range(begin, end + 1))
