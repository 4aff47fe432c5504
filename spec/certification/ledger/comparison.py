"""The changes between two certificates."""

from collections.abc import Collection, Iterator, Mapping

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import grouped
from spec.certification.settings import Request
from spec.certification.target.loading import resolved
from spec.version import RETIRED


def compared(before: Certificate, after: Certificate) -> str:
    """All changes, as text."""
    return "\n".join(changes(before, after)) or "nothing changed"


def changes(
    before: Certificate, after: Certificate, versions: Collection[str] | None = None
) -> Iterator[str]:
    """Yield a line for each change.

    versions: the libraries whose versions count; by default all.
    """
    yield from _mappings("", _of(before), _of(after))
    chosen = (  # a certificate from before there was a convention has its default
        {**other.defaults, **one.conventions} for one, other in ((before, after), (after, before))
    )
    yield from _mappings("convention ", *chosen)
    old, new = (
        {n: x for n, x in c.versions.items() if versions is None or n in versions}
        for c in (before, after)
    )
    yield from _mappings("version of ", old, new)
    if before.largest and after.largest:  # one from before sizes were noted does not know them
        sizes = ({n: str(x) for n, x in c.largest.items()} for c in (before, after))
        yield from _mappings("largest ", *sizes)
    yield from _verdicts(before, after)
    yield from _found("refused", _refusals(before), _refusals(after))
    yield from _found("cause", _causes(before), _causes(after))
    yield from _mappings("", *({"region": _region(c)} for c in (before, after)))


def _of(certificate: Certificate) -> Mapping[str, str]:
    """The facts about what was judged, by name."""
    compiled = {"compiled": certificate.compiled} if certificate.compiled else {}
    return {"name": certificate.name, "specification": certificate.specification, **compiled}


def _mappings(what: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, "none"), after.get(name, "none")
        if old != new:
            yield f"{what}{name}: {old} -> {new}"


def _found(what: str, before: Collection[str], after: Collection[str]) -> Iterator[str]:
    """Yield a line for items that are gone, and one for new items."""
    for some, others, word in ((before, after, "no more"), (after, before, "new")):
        yield from (f"{what}, {word}: {line}" for line in some if line not in others)


def _causes(certificate: Certificate) -> list[str]:
    """A sentence for each cause, with the change that corrects it."""
    return ["; ".join(filter(None, (c.sentence, c.lens, c.besides))) for c in certificate.causes]


def _region(certificate: Certificate) -> str:
    """The region in which the target is correct, in a line."""
    region = certificate.region
    but = f" but {', '.join(region.but)}" if region.but else ""
    where = "nowhere" if any(not (c.set or c.drawn) for c in certificate.causes) else "everywhere"
    return f"{region.sentence or where}{but}{'' if region.passed else ', as far as known'}"


def _refusals(certificate: Certificate) -> list[str]:
    """The kinds of problem that raise an exception, and their formats, without messages."""
    pairs = ((f"{r.what}, {r.direction}", r.dtype) for r in certificate.refusals)
    return [f"{what} [{', '.join(dtypes)}]" for what, dtypes in grouped(pairs).items()]


def _verdicts(before: Certificate, after: Certificate) -> Iterator[str]:
    """Yield a line for each clause whose outcome changed, its dtypes together."""
    old, new = _outcomes(before), _outcomes(after)
    changed: dict[tuple[str, str, str], list[str]] = {}
    for key, verdict in {**old, **new}.items():
        words = [
            side[key].outcome if key in side else _absent(verdict.clause, of.specification)
            for side, of in ((old, before), (new, after))
        ]
        if words[0] != words[1]:
            clause = f"{verdict.clause} {verdict.name}"
            changed.setdefault((clause, words[0], words[1]), []).append(verdict.dtype)
    for (clause, was, now), dtypes in changed.items():
        yield f"{clause} [{', '.join(dtypes)}]: {was} -> {now}"


def _absent(number: str, version: str) -> str:
    """The reason why a certificate of a version has no verdict on a clause."""
    clause, gone = resolved(Request.specification).get(number), RETIRED.get(number)
    if clause is not None and clause.since > version:
        return f"not in {version}, new in {clause.since}"
    if gone is not None and gone.until < version:
        then = f", use {gone.superseded}" if gone.superseded else ""
        return f"not in {version}, retired after {gone.until}{then}"
    return "absent"


def _outcomes(certificate: Certificate) -> Mapping[tuple[str, str], Verdict]:
    return {(verdict.clause, verdict.dtype): verdict for verdict in certificate.verdicts}
