"""How a target rounds, told again once it is known for what other reason it is wrong.

A clause that fails for another reason as well fails in all grades of rounding, so judging could
grant none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.experiments import in_format
from spec.certification.diagnosing.leads import Lead
from spec.notation import GRADES, HALF, Grade
from spec.subject import Subject
from spec.trial import broken

WIDE = "float32"  # what is right there and wrong in 16 bits is wrong by its rounding
SEEN = 24  # wrong problems in a format that are put in the wide one


def granted(
    evidence: Evidence, subjects: Mapping[str, Subject], lead: Lead, halves: Sequence[Any]
) -> Mapping[str, Grade]:
    """The grades of rounding, raised where that alone explains what is wrong through a lens.

    None was granted to a format in which all results have another form.
    """
    grades = dict(evidence.grades)
    for problem in halves:
        known = grades.get(problem.dtype, GRADES[0])
        if grade := _enough(subjects[problem.dtype], lead, problem, known):
            grades[problem.dtype] = grade
    return grades


def coarser(evidence: Evidence, lead: Lead) -> Mapping[str, Grade]:
    """The grades of rounding, raised where that alone explains what is wrong in 16 bits alone.

    Judging has tried them, but a clause that fails for another cause as well fails in all grades.
    A problem that is right in float32 does not fail for such a cause. Empty if none is raised.
    """
    if WIDE not in evidence.subjects:
        return {}
    grades = dict(evidence.grades)
    wrong = [row.problem for row in evidence.draws(lead) if row.how]
    for dtype in dict.fromkeys(x.dtype for x in wrong if x.dtype in HALF):
        some = _some([x for x in wrong if x.dtype == dtype])
        alone = [x for x in some if is_right(evidence, lead, in_format(x, WIDE))]
        if needed := _needed(evidence, lead, alone):
            grades[dtype] = needed
    return grades if grades != evidence.grades else {}


def only_rounds(evidence: Evidence, lead: Lead, wrong: Sequence[Any]) -> Mapping[str, Grade]:
    """The grades of rounding in which all wrong problems of a cause are right; empty if none are.

    Only where 16 bits are judged and float32 is not, which would show it (`coarser`).
    """
    formats = dict.fromkeys(x.dtype for x in wrong)
    if WIDE in evidence.subjects or not {*formats} <= {*HALF}:
        return {}
    grades = dict(evidence.grades)
    for dtype in formats:
        needed = _needed(evidence, lead, _some([x for x in wrong if x.dtype == dtype]))
        if needed in (None, evidence.grades.get(dtype, GRADES[0])):
            return {}
        grades[dtype] = needed
    return grades


def _some(problems: Sequence[Any]) -> Sequence[Any]:
    return problems[:: 1 + len(problems) // SEEN]


def _needed(evidence: Evidence, lead: Lead, problems: Sequence[Any]) -> Grade | None:
    """The grade in which problems in one format break nothing; None if some do in each grade."""
    needed: list[Grade | None] = []
    for problem in problems:
        known = evidence.grades.get(problem.dtype, GRADES[0])
        needed.append(_enough(evidence.subjects[problem.dtype], lead, problem, known))
    found = [grade for grade in needed if grade]
    return max(found, key=GRADES.index) if found and None not in needed else None


def _enough(subject: Subject, lead: Lead, problem: Any, known: Grade) -> Grade | None:
    """The strictest grade, from a known one on, in which a problem breaks nothing."""
    for grade in subject.grades_from(known):
        put = problem.but(rounding=grade)
        if not any(x.binds(subject) and broken(x, subject, put) for x in lead.clauses):
            return grade
    return None


def all_could_be_right(evidence: Evidence, lead: Lead, problems: Sequence[Any]) -> bool:
    """Whether each problem is right, or in 16 bits would be in a coarser grade of rounding.

    Asked first, as finding the grade of all formats takes many calls, some on long arrays.
    """
    return all(
        is_right(evidence, lead, problem)
        or (problem.dtype in HALF and _needed(evidence, lead, [evidence.posed(problem)]))
        for problem in problems
    )


def is_right(evidence: Evidence, lead: Lead, problem: Any) -> bool:
    """Whether the target answers a problem, and no clause fails."""
    row = evidence.row(lead, problem)
    return row is not None and not row.how
