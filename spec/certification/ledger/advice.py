"""Advice on causes that no change corrects: what to declare, test again, or leave out."""

from spec.abilities import WORDS
from spec.backends.habits import SUMS, WIDER, where_it_fits
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
PROMOTED = "has the wrong dtype: got float64"
UNSEEN = "The numbers of results of a wrong dtype were not compared: once it is right, test again."


def hints(certificate: Findings, cause: Cause) -> list[str]:
    """Return the advice on a cause, and on its formats; if a change corrects it, that is advice."""
    known = kind_of(certificate.about).reports.hints.get(joined(cause.features), "")
    hint = INFERENCE if (cause.asked, cause.failure) == UNTRAINED else known
    hint = UNSEEN if cause.failure.endswith("has the wrong dtype") else hint
    script = cause.counterexample.script if cause.counterexample else ""
    if cause.lens:
        hint = where_it_fits(WIDER, script) if _is_promoted(cause) else ""
    elif not hint and _grows_in_float16(cause):
        hint = where_it_fits(SUMS, script)
    formats = _other_formats(certificate, cause)
    return [x for x in (hint, formats) if x]


def _is_promoted(cause: Cause) -> bool:
    """Whether a result is float64 where its inputs have fewer bits."""
    example = cause.counterexample
    return example is not None and PROMOTED in example.message


def _grows_in_float16(cause: Cause) -> bool:
    """Whether a result is wrong in float16, and in no other format, from a size on."""
    sizes = any(" > " in feature for feature in cause.features)
    return sizes and {*cause.dtypes} == {"float16"}


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
