"""What a target says that nobody has asked anything: of problems that are put in order."""

from collections.abc import Sequence

from spec.certification.settings import Request
from spec.certification.target.loading import Target, load, resolved
from spec.kinds import kind_of
from spec.notation import Posed
from spec.trial import broken


def afresh(target: Target, request: Request, number: str, problems: Sequence[Posed]) -> list[str]:
    """How a clause is broken by each of some problems, put one after the other; "" if it is not.

    The target is loaded, and neither tried nor probed. Raises Unsuitable.
    """
    raw = load(target, request, tried=False)
    subject = kind_of(raw.about).under(raw, request.conventions)
    clause = resolved(request.specification)[number]
    found = (broken(clause, subject, problem) for problem in problems)
    return ["" if violation is None else str(violation) for violation in found]
