"""The results of a target that was never called before, on problems in a given order."""

from collections.abc import Sequence

from spec.certification.settings import Request
from spec.certification.target.loading import Target, load, resolved
from spec.kinds import kind_of
from spec.notation import Posed
from spec.trial import broken


def afresh(target: Target, request: Request, number: str, problems: Sequence[Posed]) -> list[str]:
    """How each of some problems breaks a clause, one call after the other; "" if it does not.

    The target is loaded, but not tried or probed. Raises Unsuitable.
    """
    raw = load(target, request, tried=False)
    subject = kind_of(raw.about).conventions.under(raw, request.conventions)
    clause = resolved(request.specification)[number]
    found = (broken(clause, subject, problem) for problem in problems)
    return ["" if violation is None else str(violation) for violation in found]
