"""An estimate of the time that clauses take on the shapes of a target that compiles.

The first call of a shape compiles; the same call with other numbers does not. Both are timed, for
results and for gradients, which take longer, on a few small problems as in `Planner.compiles`.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spec.certification.judging.given import Given
from spec.certification.judging.palette import Planner

TIMED, TRIED = 2, 5  # calls of each sort that are timed, of so many if some are refused
LONGEST = 3.0  # seconds after which no further call is timed


class Work(NamedTuple):
    """The cost of clauses: programs that they compile, and seconds in all."""

    programs: float
    seconds: float


def work(planner: Planner, every: Sequence[Given], part: Mapping[str, Sequence[int]]) -> Work:
    """The work of clauses on their shapes, timed in the format of a planner.

    every: the shapes that they can be given. part: the shapes given, by number of the clause.
    """
    mine = [[x.asked[shape] for shape in part.get(x.clause.number, ())] for x in every]
    wanted = {asked for clause in mine for shape in clause for asked in shape}
    named = Counter(name for name, _ in wanted if name in planner.twice)
    plain, again = _timed(planner, planner.functions.first)
    plain, heavy = plain or planner.pace, sum(named.values())
    twice, later = _timed(planner, max(named, key=named.__getitem__)) if named else (0.0, 0.0)
    each = (sum(map(len, shapes)) / max(1, len(shapes)) for shapes in mine)  # calls for a problem
    calls = sum(x.clause.effort * y for x, y in zip(every, each, strict=True))
    compiling = plain * (len(wanted) - heavy) + (twice or 2 * plain) * heavy
    problems = planner.profile.examples * calls
    return Work(len(wanted) + heavy, compiling + max(again, later) * problems)


def _timed(planner: Planner, name: str) -> tuple[float, float]:
    """Mean seconds of a first call of a function, and of the same call again; 0 if unknown.

    They are measured by the clock, not the processor: compilers have threads of their own.
    """
    found: list[tuple[float, float]] = []
    start = time.perf_counter()
    for _ in range(TRIED):
        if len(found) == TIMED or time.perf_counter() - start > LONGEST:
            break
        problem = planner.fresh()
        begun = time.perf_counter()
        if not planner.answers(name, problem):
            continue
        between = time.perf_counter()
        planner.answers(name, problem)
        found.append((between - begun, time.perf_counter() - between))
    count = max(1, len(found))
    return sum(x for x, _ in found) / count, sum(x for _, x in found) / count
