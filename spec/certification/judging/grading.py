"""The grade of rounding that a certificate grants, and that violations have to count in it.

In a format of 16 bits an implementation may round as kernels do ("flash") or as a chain of
library calls does ("eager"), and be right. What is granted in such a format is the strictest
grade in which every clause holds that holds in any: a clause that is broken is put anew in the
next grade that explains the problem which broke it, and where it then holds, that grade is
granted to all clauses that are still to be run (`running.judged`).

So a clause that was run early may have been broken in a stricter grade than the one that is
granted in the end, by a problem that is none there. It is run again from its first problem in
the grade that is granted, until no violation is left of another: what a certificate prints, the
counterexample, its numbers and its script, is wrong in the very grade that it names. What held
in a stricter grade still does, and is not run again. A violation that could not be run again,
as the run was stopped, is none: its clause is blocked.
"""

from collections.abc import Iterable, Mapping

from spec.certification.judging.verdict import Verdict
from spec.notation import GRADES, HALF, Grade


def raised(one: str, other: str) -> Grade:
    """The less strict of two grades."""
    return GRADES[max(_rank(one), _rank(other))]


def granted(verdicts: Iterable[Verdict]) -> Mapping[str, Grade]:
    """The grade of each dtype of 16 bits in which a clause was run."""
    grades: dict[str, Grade] = {}
    for verdict in verdicts:
        if verdict.dtype in HALF and verdict.ran:
            known = grades.get(verdict.dtype, "strict")
            grades[verdict.dtype] = raised(known, verdict.rounding)
    return grades


def unsettled(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    """The clause and dtype of each violation in a stricter grade than the one that is granted."""
    found = list(verdicts)
    grades = granted(found)
    violated = [v for v in found if v.outcome == "violated" and v.ran and v.dtype in grades]
    return [(v.clause, v.dtype) for v in violated if v.rounding != grades[v.dtype]]


def _rank(grade: str) -> int:
    return [str(known) for known in GRADES].index(grade)
