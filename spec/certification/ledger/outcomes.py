"""Outcomes of clauses in words: how many apply to a target, and what came of them."""

from collections import Counter
from typing import NamedTuple

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.findings import Findings, grouped


class Said(NamedTuple):
    """An outcome in words: in the table, in the line of clauses that apply, and in the legend.

    one, many: how many clauses have it, as a format of the number.
    """

    cell: str
    one: str
    many: str
    meaning: str = ""


RECOMMENDED = " (recommended only)"
UNSUPPORTED = "{} unsupported (raises an exception)"  # which is no failure
SAID = {
    "violated": Said("failed", "{} fails", "{} fail"),
    "violated should": Said(
        "should",
        f"{{}} fails{RECOMMENDED}",
        f"{{}} fail{RECOMMENDED}",
        "recommended clauses that fail",
    ),
    "deviates": Said("known", "{} is known to fail", "{} known to fail", "deviations"),
    "crashed": Said("crashed", "{} crashed", "{} crashed"),
    "refused": Said(
        "raised", UNSUPPORTED, UNSUPPORTED, "unsupported, as the target raises an exception"
    ),
    "blocked": Said("not run", "{} was not run", "{} not run"),
}
IN_WORDS = {  # outcomes, wherever people read them; JSON has the names
    "holds": "passed",
    "violated": "failed",
    "violated should": "failed (recommended only)",
    "deviates": "known to fail",
    "not offered": "not supported",
    "refused": "raised an exception",
    "blocked": "not run",
    "crashed": "crashed",
}
PASSING = Said("", "{} passes", "{} pass")
GRAVEST = ("violated", "crashed", "blocked", "violated should", "deviates", "holds", "refused")
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


def applying(certificate: Findings) -> str:
    """How many clauses apply, and what came of them: each is counted once, by its worst format.

    A format in which all raises an exception has a line of its own: another that passes counts.
    """
    found = grouped((v.clause, outcome(v)) for v in certificate.verdicts)
    worst = Counter(next((x for x in GRAVEST if x in met), "") for met in found.values())
    apply = len(found) - worst.pop("", 0)
    if worst["blocked"] == len(found) > 1:
        return f"none of {len(found)} was run"
    first = f"{apply} of {len(found)} {'applies' if apply == 1 else 'apply'}"
    if worst["holds"] == apply > 1:
        return f"{first}: all of them pass"
    every = {"holds": PASSING, **SAID}
    counted = [_counted(said, worst[name]) for name, said in every.items() if worst[name]]
    return f"{first}: {', '.join(counted)}" if counted else first


def _counted(said: Said, count: int) -> str:
    return (said.one if count == 1 else said.many).format(count)


def outcome(verdict: Verdict) -> str:
    """The outcome in words, a broken `should` apart from a broken `must`."""
    soft = verdict.outcome == "violated" and verdict.force == "should"
    return "violated should" if soft else verdict.outcome
