"""One clause, one implementation, one dtype: examples are drawn until one breaks it.

Hypothesis only draws here. Its database, deadlines, health checks and shrinking
are off, and what is drawn depends on the seed, the clause and the dtype alone.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import configuration
from hypothesis import strategies as st

from spec import rounding
from spec.clause import Clause, Violation, measuring
from spec.implementation import Capability, Implementation, Refused, not_offered
from spec.notation import GRADES, Grade
from spec.problems import Scope
from spec.subject import Posed, Subject

DIFFERENTIATES = frozenset(
    {Capability.GRADIENTS, Capability.BIAS_GRADIENT, Capability.PARTIAL_GRADIENTS}
)
HALF = ("float16", "bfloat16")  # the formats in which a rounding grade is looked for
BUNDLE = 20  # problems drawn at once: more would not fit what Hypothesis draws for an example
MANY = st.integers(0, 2**16)  # zero in the simplest example, and hardly ever again
FUNCTIONS = Implementation.functions


@dataclass
class Watch:
    """Seconds spent in an implementation, and the problem that it last refused."""

    seconds: float = 0.0
    refused: Posed | None = None

    def over(self, subject: Subject) -> Any:
        """The same record, its functions watched."""
        offered = {name: getattr(subject, name) for name in subject.functions}
        return subject.but(
            **{n: self._watched(f) for n, f in offered.items() if f is not not_offered}
        )

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(problem: Posed, *rest: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(problem, *rest)
            except Refused:
                self.refused = problem
                raise
            finally:
                self.seconds += time.perf_counter() - start

        return watched


@dataclass
class Finding:
    """What running a clause has brought so far."""

    examples: int = 0
    refused: int = 0
    refusal: str = ""
    worst: float = 0.0
    problem: Any = None  # of the kind that the clause is about
    violation: Violation | None = None
    rounding: Grade = "strict"
    coverage: tuple[int, int, int] = (0, 0, 0)  # rows, of these capped, of these silent
    seconds: dict[str, float] = field(default_factory=dict)


def judged(clause: Clause, subject: Subject, scope: Scope, *, examples: int, seed: int) -> Finding:
    """Run `clause` on at most `examples` problems in `scope`, and stop at the first that breaks it.

    In a format of 16 bits the rounding grade is raised when that alone explains a violation.
    """
    finding = _run(clause, subject, scope, examples, seed)
    if scope.dtype not in HALF or finding.problem is None:
        return finding
    for grade in GRADES[GRADES.index(scope.rounding) + 1 :]:
        if broken(clause, subject, finding.problem.but(rounding=grade)) is None:
            raised = replace(scope, rounding=grade)
            again = judged(clause, subject, raised, examples=examples, seed=seed)
            return again if again.violation is None else finding
    return finding


def broken(clause: Clause, subject: Subject, problem: Posed) -> Violation | None:
    """How `problem` breaks the clause, if it does; a refusal outside the core does not."""
    watch = Watch()
    try:
        with np.errstate(all="ignore"):
            clause.check(watch.over(subject), problem)
    except Violation as violation:
        return violation
    except Refused as refusal:
        return _unless_allowed(refusal, watch, subject)
    return None


def scope_for(clause: Clause, subject: Subject, dtype: str, rounding: Grade, reach: Any) -> Scope:
    """Where the problems for this clause are drawn from: what the implementation answers."""
    backward = bool(clause.needs & DIFFERENTIATES)
    answers = subject.answers
    return Scope(
        dtype=dtype,
        answers=answers & subject.differentiates if backward else answers,
        corner=subject.chosen["causal"],  # type: ignore[arg-type]
        rounding=rounding,
        reach=reach,
    )


class _Enough(BaseException):
    """Ends a run: an example has broken the clause. No Exception, which Hypothesis would replay."""


def _run(clause: Clause, subject: Subject, scope: Scope, examples: int, seed: int) -> Finding:
    finding, watch = Finding(rounding=scope.rounding), Watch()
    watched = watch.over(subject)
    checking = 0.0

    def examine(problem: Any) -> None:
        nonlocal checking
        if finding.violation is None:
            start = time.perf_counter()
            _examine(clause, watched, watch, problem, finding)
            checking += time.perf_counter() - start
        if finding.violation is not None:
            raise _Enough

    start = time.perf_counter()
    _draw(clause, scope, examples * clause.effort, seed, examine)
    whole = time.perf_counter() - start
    finding.seconds = {
        "implementation": watch.seconds,
        "specification": checking - watch.seconds,
        "elsewhere": whole - checking,
    }
    return finding


@contextmanager
def _keeping_nothing() -> Iterator[None]:
    """Hypothesis would write what it learns of a caller's code to a folder beside that code."""
    place: Any = configuration.storage_directory(intent_to_write=False)
    home = Path(getattr(place, "home_directory", place))  # a plain Path in older versions
    configuration.set_hypothesis_home_dir(os.devnull)
    try:
        yield
    finally:
        configuration.set_hypothesis_home_dir(home)


def _draw(
    clause: Clause, scope: Scope, examples: int, seed: int, examine: Callable[[Any], None]
) -> None:
    """Put problems to `examine`, the simplest first, until it has had enough of them.

    They come in bundles, an engine run for each: once it has seen one, the engine
    would rather repeat parts of it than draw afresh.
    """
    try:
        with np.errstate(all="ignore"), _keeping_nothing():
            for first in range(0, examples, BUNDLE):
                size = min(BUNDLE, examples - first)
                _draw_bundle(clause, scope, (first, size), seed, examine)
    except _Enough:
        pass


def _draw_bundle(
    clause: Clause,
    scope: Scope,
    part: tuple[int, int],
    seed: int,
    examine: Callable[[Any], None],
) -> None:
    first, size = part

    def several(problems: list[Any]) -> None:
        if first == 0 and len(problems) > 1:
            problems = problems[1:]  # the simplest has taken the place of one
        elif len(problems) == 1 and first > 0:
            problems = []  # it has been seen
        for problem in problems:
            examine(problem)

    text = f"{seed} {first} {clause.number} {scope.dtype}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    hypothesis.seed(number)(
        hypothesis.settings(
            max_examples=2,
            phases=(hypothesis.Phase.generate,),
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
        )(hypothesis.given(_bundles(clause.over.within(scope), size))(several))
    )()


@st.composite
def _bundles(draw: st.DrawFn, problems: st.SearchStrategy[Any], size: int) -> list[Any]:
    """Several problems, as what Hypothesis does once for each example takes longer than they.

    One in the simplest bundle, which is the first, so that it is not put again and again.
    """
    return [draw(problems) for _ in range(size if draw(MANY) else 1)]


def _examine(
    clause: Clause, watched: Subject, watch: Watch, problem: Any, finding: Finding
) -> None:
    """Put one problem to the clause, and note what happened."""
    try:
        with measuring() as measure:
            clause.check(watched, problem)
    except Violation as violation:
        finding.problem, finding.violation = problem, violation
    except Refused as refusal:
        finding.violation = _unless_allowed(refusal, watch, watched)
        finding.problem = None if finding.violation is None else problem
        finding.refused += finding.violation is None
        finding.refusal = str(refusal)
        return
    finding.examples += 1
    finding.worst = max(finding.worst, measure.worst)
    if _covers(clause, watched):
        seen = rounding.coverage(problem)
        rows, capped, silent = finding.coverage
        finding.coverage = (rows + seen.rows, capped + seen.capped, silent + seen.silent)


def _covers(clause: Clause, subject: Subject) -> bool:
    """Whether the problems of this clause are those whose coverage is reported."""
    differentiated = Capability.GRADIENTS in subject.offers
    return clause.section == "A" and (Capability.GRADIENTS in clause.needs) == differentiated


def _unless_allowed(refusal: Refused, watch: Watch, subject: Subject) -> Violation | None:
    """A violation if the problem that was refused belongs to the core."""
    if watch.refused is not None and subject.kinds_of(watch.refused):
        return None
    return Violation(f"a problem of the core is refused: {refusal}")
