"""The clauses that are settled before any run, as they do not apply to a target or a format."""

from spec.certification.judging.judging import differentiates
from spec.certification.judging.verdict import Verdict, unrun
from spec.certification.target.precision import IN_SINGLE
from spec.certification.target.probed import Probed
from spec.clause import Clause
from spec.features import listed
from spec.kinds import kind_of
from spec.subject import Backward, Subject


def unbound(
    clause: Clause, dtype: str, offers: frozenset[str], raw: Subject, probed: Probed
) -> Verdict | None:
    """The verdict on a clause that does not apply in a format, or None if it applies.

    offers: what the target supports under its conventions, whether or not a call succeeds.
    """
    missing = clause.needs - offers
    if missing:
        return unrun(clause, dtype, "not offered", _listed(missing))
    if dtype not in probed.by_dtype:
        message = next(r.message for r in probed.refusals if r.dtype == dtype)
        return unrun(clause, dtype, "refused", f"{dtype}: {message}")
    known = kind_of(raw.about).definition
    if dtype == "float64" and IN_SINGLE in probed.notes and clause.number != known:
        return unrun(clause, dtype, "refused", IN_SINGLE)  # the definition says it once
    implementation = probed.by_dtype[dtype]
    left = lost(clause, raw.answers, implementation)
    if not left:
        return None
    refused = {refusal.what for refusal in probed.refusals if refusal.dtype == dtype}
    absent = left <= {*raw.offering} and not refused & left
    return unrun(clause, dtype, "not offered" if absent else "refused", _listed(left))


def lost(clause: Clause, answers: frozenset[str], subject: Subject) -> frozenset[str]:
    """The capabilities that a clause needs and a subject lacks, with gradients if it needs them.

    answers: the kinds of problems whose gradients are needed as well.
    """
    backward = clause.needs & answers if differentiates(clause) else frozenset[str]()
    return (clause.needs - subject.offers) | (backward - subject.differentiates)


def _listed(capabilities: frozenset[str]) -> str:
    return "; ".join(sorted(capabilities))


def needs(clause: Clause) -> str:
    """The target that a clause needs, in words; "nothing" if any does."""
    # The word for gradients is shared by all kinds, and names the inputs of one.
    words = sorted("has gradients" if x == Backward.GRADIENTS else x for x in clause.needs)
    verbs: dict[str, list[str]] = {}
    for verb, _, rest in (word.partition(" ") for word in words):
        verbs.setdefault(verb, []).append(rest)
    parts = [f"{verb} {listed(rest)}" for verb, rest in verbs.items()]
    return f"a target that {listed(parts)}" if words else "nothing"


def without(clause: Clause) -> str:
    """The options of which a clause says nothing, in words; "" if it is true with all."""
    return ", ".join(kind_of(clause.about).reports.excluded(clause.over))
