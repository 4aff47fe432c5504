"""What changed between two certificates."""

from collections.abc import Iterator, Mapping

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.certificate import Certificate


def compared(before: Certificate, after: Certificate) -> str:
    """The verdicts, conventions and versions that are not what they were, as text."""
    lines = [
        *_mappings("", _of(before), _of(after)),
        *_mappings("convention ", before.conventions, after.conventions),
        *_mappings("version of ", before.versions, after.versions),
        *_verdicts(before, after),
    ]
    return "\n".join(lines) if lines else "nothing changed"


def _of(certificate: Certificate) -> Mapping[str, str]:
    """What was judged."""
    compiled = {"compiled": certificate.compiled} if certificate.compiled else {}
    return {"name": certificate.name, **compiled}


def _mappings(what: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, "none"), after.get(name, "none")
        if old != new:
            yield f"{what}{name}: {old} -> {new}"


def _verdicts(before: Certificate, after: Certificate) -> Iterator[str]:
    """A line for each clause whose outcome changed, its dtypes together."""
    old, new = _outcomes(before), _outcomes(after)
    changes: dict[tuple[str, str, str], list[str]] = {}
    for key, verdict in {**old, **new}.items():
        words = [side[key].outcome if key in side else "absent" for side in (old, new)]
        if words[0] != words[1]:
            clause = f"{verdict.clause} {verdict.name}"
            changes.setdefault((clause, words[0], words[1]), []).append(verdict.dtype)
    for (clause, was, now), dtypes in changes.items():
        yield f"{clause} [{', '.join(dtypes)}]: {was} -> {now}"


def _outcomes(certificate: Certificate) -> Mapping[tuple[str, str], Verdict]:
    return {(verdict.clause, verdict.dtype): verdict for verdict in certificate.verdicts}
