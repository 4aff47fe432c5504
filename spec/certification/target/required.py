"""The clauses of a request, with those required whose promise of bits the request declares."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from spec.certification.settings import Request
from spec.certification.target.loading import resolved
from spec.clause import Clause


def required(request: Request) -> Mapping[str, Clause]:
    """The clauses by number; one about a declared promise is a `must` here."""
    found: Mapping[str, Clause] = resolved(request.specification)
    if not request.promises:
        return found
    return {n: _must(x) if x.promise in request.promises else x for n, x in found.items()}


@cache
def _must(clause: Clause) -> Clause:
    """The clause as a `must`: always the same object, as clauses are compared by identity."""
    return replace(clause, force="must")
