"""Problems that broke a clause once, tested again: each is stored as a word that draws it.

    standard 7 12 strict 5c1f09d2ab34     the profile, the seed, the position in the series, the
                                          rounding model, and a hash of the problem

A word draws the same problem as long as the target supports the same kinds of problem. If it draws
another problem, the hash differs, and there is no verdict about the first one.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from spec.certification.judging.drawing import same_chances, series
from spec.certification.judging.judging import Finding
from spec.certification.judging.verdict import Verdict, unrun
from spec.clause import Clause
from spec.domain import Scope
from spec.notation import Grade
from spec.saved import problem_to_json
from spec.sizes import Reach
from spec.subject import Subject
from spec.trial import broken

BREAKS, HOLDS, OTHER = "breaks it", "no longer breaks it", "draws another problem now"


def word(scope: Scope, seed: int, finding: Finding) -> str:
    """The word that draws the failing problem of a finding again."""
    mark = _mark(finding.problem)
    return f"{scope.reach} {seed} {finding.place} {finding.rounding} {mark}"


def replayed(
    clause: Clause, subject: Subject, scope: Scope, replays: Mapping[str, Sequence[str]]
) -> Verdict:
    """The verdict of a clause on stored problems in one dtype, each of them tested again.

    replays: the words by clause and dtype, as `K2 float32`.
    """
    words = replays.get(f"{clause.number} {scope.dtype}", ())
    found = {x: _again(clause, subject, scope, x) for x in words}
    put = sum(x != OTHER for x in found.values())
    outcome = "violated" if BREAKS in found.values() else "holds" if put else "not offered"
    verdict = unrun(clause, scope.dtype, outcome, "")  # type: ignore[arg-type]
    return replace(verdict, examples=put, drawn=found)


def _again(clause: Clause, subject: Subject, scope: Scope, written: str) -> str:
    reach, seed, place, grade, mark = written.split()
    scope = replace(scope, reach=cast(Reach, reach), rounding=cast(Grade, grade))
    drawn = series(clause, scope, int(place) + 1, int(seed))
    problem = next(islice(drawn, int(place), None))
    if _mark(problem) != mark:
        return OTHER
    with same_chances():
        return HOLDS if broken(clause, subject, problem) is None else BREAKS


def _mark(problem: Any) -> str:
    written = json.dumps({**problem_to_json(problem), "rounding": ""})
    return hashlib.sha256(written.encode()).hexdigest()[:12]
