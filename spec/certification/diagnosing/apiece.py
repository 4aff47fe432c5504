"""An example for each of several conventions that correct a cause together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spec.certification.judging.examiner import Examiner
from spec.clause import Clause
from spec.kinds import kind_of
from spec.trial import broken
from spec.written import arrays, in_a_line

LOOKED = 200  # problems, smallest first, among which each convention has its example


def apiece(
    examiner: Examiner, clause: Clause, choices: Mapping[str, str], problems: Sequence[Any]
) -> Iterator[str]:
    """Yield a line for each convention: what is wrong without it, and on which problem.

    Of problems that it corrects alone, if there are any; else of those that need all of them.
    """
    kind, raw, known = kind_of(clause.about), examiner.raw, examiner.request.conventions
    unlike = {in_a_line(problem): problem for problem in problems}.values()
    small = sorted(unlike, key=lambda p: sum(x.size for x in arrays(p).values()))[:LOOKED]

    def failing(problem: Any, **declared: str) -> Any:
        record = examiner.guard(kind.conventions.under(raw, {**known, **declared}))
        return broken(clause, record, kind.functions.fitted(record, problem))

    for name, choice in choices.items():
        alone = (p for p in small if not failing(p, **{name: choice}))
        pairs = ((p, failing(p)) for p in alone)
        others = {n: x for n, x in choices.items() if n != name}
        needing = ((p, failing(p, **others)) for p in small)
        found = (pair for some in (pairs, needing) for pair in some if pair[1] is not None)
        for problem, violation in found:
            yield f"without {name}={choice}: {violation} ({in_a_line(problem)})"
            break
