"""Promises of bits that nobody declared, with the smallest problem on which bits differ."""

from dataclasses import replace
from typing import Any

from spec.certification.explaining.reduction import in_few_tries
from spec.certification.judging.judging import scope_for
from spec.certification.judging.verdict import Verdict
from spec.certification.profiles import Profile
from spec.clause import Clause
from spec.subject import Subject

TRIED = 2  # one part of the problems of a required clause


def number_of(clause: Clause, profile: Profile) -> int:
    """How many problems a clause of effort 1 is tested on: fewer for what nobody promised."""
    return profile.examples // TRIED if clause.force == "promise" else profile.examples


def with_smallest(verdict: Verdict, clause: Clause, subject: Subject, problem: Any) -> Verdict:
    """The verdict; on bits that nobody promised, with the smallest problem of a short search.

    It has no counterexample: as it blocks nothing, nobody waits for a script.
    """
    if problem is None or clause.force != "promise":
        return verdict
    scope = scope_for(clause, subject, verdict.dtype, "strict", "quick")
    return replace(verdict, smallest=in_few_tries(clause, subject, problem, scope.answers))
