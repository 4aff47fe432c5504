"""Outcomes of clauses in words: how many apply to a target, and what came of them."""

from collections import Counter
from typing import NamedTuple

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.findings import Findings, grouped


class Said(NamedTuple):
    """An outcome in words wherever people read them (JSON has the names), and as a mark on pages.

    one, many: how many clauses have it, as a format of the number, in the line of clauses that
    apply. cell, meaning: in the table of a report and in its legend, if it stands there.
    """

    words: str
    mark: str
    one: str = ""
    many: str = ""
    cell: str = ""
    meaning: str = ""


RECOMMENDED = " (recommended only)"
UNSUPPORTED = "{} unsupported (raises)"  # an exception, which is no failure
NOT_PROMISED = "{} not promised"  # equal bits, which the line `same bits` is about
SAID = {
    "holds": Said("passed", "·", "{} passes", "{} pass"),
    "violated": Said("failed", "✗", "{} fails", "{} fail", "failed"),
    "violated should": Said(
        f"failed{RECOMMENDED}",
        "~",
        f"{{}} fails{RECOMMENDED}",
        f"{{}} fail{RECOMMENDED}",
        "should",
        "recommended clauses that fail",
    ),
    "violated promise": Said(
        "differ in bits (not promised)",
        "≈",
        NOT_PROMISED,
        NOT_PROMISED,
        "bits",
        "different bits, as equal ones are not promised",
    ),
    "deviates": Said(
        "known to fail", "≠", "{} is known to fail", "{} known to fail", "known", "deviations"
    ),
    "crashed": Said("crashed", "!", "{} crashed", "{} crashed", "crashed"),
    "refused": Said(
        "raised an exception",
        "-",
        UNSUPPORTED,
        UNSUPPORTED,
        "raised",
        "unsupported, as the target raises an exception",
    ),
    "blocked": Said("not run", "?", "{} was not run", "{} not run", "not run"),
    "not offered": Said("not supported", ""),
}
GRAVEST = (
    "violated",
    "crashed",
    "blocked",
    "violated should",
    "violated promise",
    "deviates",
    "holds",
    "refused",
)


def applying(certificate: Findings) -> str:
    """How many clauses apply, and what came of them: each is counted once, by its worst format.

    A format in which all raises an exception has a line of its own: another that passes counts.
    """
    worst = by_worst(certificate)
    every = worst.total()
    apply = every - worst.pop("", 0)
    if worst["blocked"] == every > 1:
        return f"none of {every} was run"
    first = f"{apply} of {every} {'applies' if apply == 1 else 'apply'}"
    if worst["holds"] == apply > 1:
        return f"{first}: all of them pass"
    counted = [_counted(said, worst[name]) for name, said in SAID.items() if worst[name]]
    return f"{first}: {', '.join(counted)}" if counted else first


def by_worst(certificate: Findings) -> Counter[str]:
    """How many clauses have each outcome in their worst format; "" if they do not apply."""
    found = grouped((v.clause, outcome(v)) for v in certificate.verdicts)
    return Counter(next((x for x in GRAVEST if x in met), "") for met in found.values())


def _counted(said: Said, count: int) -> str:
    return (said.one if count == 1 else said.many).format(count)


def outcome(verdict: Verdict) -> str:
    """The outcome in words, a broken `should` or promise apart from a broken `must`.

    Certificates from before promises have causes for what are promises now: there it is a failure.
    """
    wrong = verdict.force == "must" or (verdict.promise and verdict.causes)
    soft = verdict.outcome == "violated" and not wrong
    return f"violated {verdict.force}" if soft else verdict.outcome
