"""An examiner puts the problems of its seed, in the shapes that are planned for its target."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spec import CLAUSES
from spec.attention.truth import truth
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.drawing import series
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.judging import scope_for
from spec.certification.judging.sampled import planned
from spec.certification.judging.witness import Witness
from spec.certification.profiles import QUICK
from spec.certification.settings import Request
from spec.certification.target.deviations import Deviations
from spec.certification.target.probed import Probed
from spec.kinds import KINDS
from spec.subject import Subject

KIND = KINDS["attention"]
NOWHERE = Bounds.of(KIND, "")


def examiner(subject: Subject, request: Request) -> Examiner:
    """One that has probed a subject, and found that it answers all in float32."""
    found = Probed({"float32": subject.but(dtypes=("float32",))}, ())
    none = Witness(subject, {}, []), Deviations({}), NOWHERE
    return Examiner(request, subject, found, CLAUSES, 1.0, subject.offers, *none)


def asked(seed: int) -> list[str]:
    """The problems of a clause that an examiner with this seed puts to the definition."""
    put: list[str] = []

    def watched(_: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(problem: Any, *rest: Any) -> Any:
            put.append(repr(problem))
            return function(problem, *rest)

        return called

    subject = truth().through(watched)
    one = examiner(subject, Request("a target", profile="quick", seed=seed))
    verdict, problem = one.verdict("A1", "float32", "strict")
    assert (verdict.outcome, problem) == ("holds", None)
    return put


@pytest.mark.parametrize("seed", [0, 3])
def test_what_is_asked_are_the_problems_that_the_seed_draws(seed: int) -> None:
    scope = scope_for(CLAUSES["A1"], truth(), "float32", "strict", "quick")
    wanted = [repr(x) for x in series(CLAUSES["A1"], scope, QUICK.examples, seed)]
    found = asked(seed)
    assert [x for x in found if x in wanted] == wanted


def test_another_seed_asks_for_other_problems() -> None:
    assert {*asked(0)} != {*asked(1)}


def test_shapes_are_planned_for_each_format_by_what_is_asked_of_it() -> None:
    """Whichever format is first, none is given the shapes of one that has other gradients."""
    few, clauses = replace(QUICK, palette=2, programs=6), {n: CLAUSES[n] for n in ("A1", "A3")}
    whole = truth().but(compiled="torch")
    forward = whole.but(differentiates=frozenset())
    orders = {"float64": whole, "float32": forward}, {"float64": forward, "float32": whole}
    plans = []
    for order in orders:
        subjects = {dtype: x.but(dtypes=(dtype,)) for dtype, x in order.items()}
        found = planned(KIND, clauses, Probed(subjects, ()), few, 0, NOWHERE, lambda: None)
        for subject in found.by_dtype.values():
            bound = {n for n, clause in clauses.items() if clause.binds(subject)}
            assert {*subject.palette} == bound
        plans.append([found.by_dtype[dtype].palette for dtype in order])
    first, second = plans
    assert first == second[::-1]
    assert first[0] != first[1]


def test_no_shapes_are_planned_for_a_clause_whose_gradients_are_missing() -> None:
    """J14 needs gradients with segments, which a target may raise an exception for."""
    few, clauses = replace(QUICK, palette=2, programs=6), {n: CLAUSES[n] for n in ("A1", "J14")}
    whole = truth().but(compiled="torch", dtypes=("float32",))
    for subject, wanted in (
        (whole, {"A1", "J14"}),
        (whole.but(differentiates=frozenset()), {"A1"}),
    ):
        probed = Probed({"float32": subject}, ())
        found = planned(KIND, clauses, probed, few, 0, NOWHERE, lambda: None)
        assert {*found.by_dtype["float32"].palette} == wanted
