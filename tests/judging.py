"""How the tests put one clause to one subject: as a certificate does, without trying grades.

`generated` is for tests whose examples are drawn: the same ones every time.
"""

from typing import Any

from hypothesis import HealthCheck, settings

from spec import about
from spec.certification.doors import requested
from spec.certification.in_process import judged_here
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.judging import Finding, judged, scope_for
from spec.certification.judging.palette import Planner
from spec.certification.ledger.certificate import Certificate
from spec.certification.profiles import STANDARD, Profile
from spec.clause import Clause
from spec.comparison import Violation
from spec.kinds import kind_of
from spec.subject import Subject

generated = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
EXAMPLES, QUICK = 25, 4  # for a clause of usual effort; 25 are those of the standard profile


def found(
    clause: Clause,
    subject: Subject,
    dtype: str,
    examples: int = EXAMPLES,
    seed: int = 0,
    reach: str = "standard",
) -> Finding:
    """What came of putting a clause to a subject."""
    scope = scope_for(clause, subject, dtype, "strict", reach)
    return judged(clause, subject, scope, examples=examples, seed=seed)


def bound(subject: Subject) -> list[Clause]:
    """The clauses that speak of a subject."""
    return [clause for clause in about(subject.about).values() if clause.binds(subject)]


def valued(subject: Subject) -> list[Clause]:
    """The clauses that speak of a subject and of values: right ones may break promises of bits."""
    return [clause for clause in bound(subject) if clause.force != "promise"]


def planner(
    subject: Subject,
    dtype: str = "float32",
    profile: Profile = STANDARD,
    seed: int = 0,
    where: str = "",
) -> Planner:
    """Who chooses the shapes of a subject, as one that compiles."""
    kind, alone = kind_of(subject.about), subject.but(dtypes=(dtype,))
    first, bounds = about(kind.about)[kind.definition], Bounds.of(kind, where)
    return Planner(kind, alone, first, profile, seed, bounds, lambda: None)


def broken(
    subject: Subject, dtype: str, examples: int = EXAMPLES, seed: int = 0, reach: str = "standard"
) -> dict[str, Violation]:
    """The clauses that a subject breaks, `should` or not, and how; no promise of bits counts."""
    findings = {c.id: found(c, subject, dtype, examples, seed, reach) for c in valued(subject)}
    return {name: f.violation for name, f in findings.items() if f.violation is not None}


def unexplained(target: Any, **options: Any) -> Certificate:
    """The certificate of a target by the options of `certify`, without a search for causes."""
    return judged_here(target, requested(target, {**options, "diagnosis_timeout": 1e-9}))
