"""Advice on causes that no change corrects: what to declare, test again, or leave out."""

from spec.abilities import WORDS
from spec.certification.judging.cause import RAISES, Cause
from spec.certification.ledger.findings import Findings
from spec.features import FORMATS, joined
from spec.kinds import kind_of

SETTLED = ("holds", "deviates", "not offered", "refused")  # outcomes that are no failure
UNTRAINED = (WORDS["backward"], RAISES)  # the result, and how it fails
INFERENCE = (
    "If the target is for inference only, declare --convention gradients=none, or let its backward "
    "pass raise NotImplementedError."
)
UNSEEN = "The numbers of results of a wrong dtype were not compared: once it is right, test again."


def hints(certificate: Findings, cause: Cause) -> list[str]:
    """Return the advice on a cause that no change corrects, and on its formats."""
    known = kind_of(certificate.about).reports.hints.get(joined(cause.features), "")
    hint = INFERENCE if (cause.asked, cause.failure) == UNTRAINED else known
    hint = UNSEEN if cause.failure.endswith("has the wrong dtype") else hint
    formats = _other_formats(certificate, cause)
    return [x for x in (hint if not cause.lens else "", formats) if x]


def _other_formats(certificate: Findings, cause: Cause) -> str:
    """How to test the formats in which nothing fails, with the first cause about others; or ""."""
    alone = (x for x in certificate.causes if {*FORMATS} & {*x.features})
    if cause is not next(alone, None):
        return ""
    held = {v.dtype for v in certificate.verdicts if v.outcome == "holds"}
    wrong = {v.dtype for v in certificate.verdicts if v.outcome not in SETTLED}
    fine = [dtype for dtype in certificate.dtypes if dtype in held - wrong]
    listed, them = ",".join(fine), "it" if len(fine) == 1 else "them"
    meant = f"If the target is meant for {them} alone, test it with --dtype {listed}."
    return f"Nothing fails in {' and '.join(fine)}. {meant}" if fine else ""
