"""What testing will take, said before it is done, of a target that compiles for each shape."""

import pytest

from spec.certification.judging.pacing import Work, work
from spec.certification.judging.palette import Planner
from spec.certification.profiles import QUICK
from spec.kinds import KINDS
from tests.judging import bound, planner
from tests.targets.compiling import SECONDS, attend

FEW = ("A1", "V2")


@pytest.fixture(scope="module")
def planned() -> Planner:
    """The shapes of some clauses for a function that takes its time for each."""
    subject = KINDS["attention"].load(attend, backend="numpy")
    chosen = planner(subject, profile=QUICK)
    chosen.palette([x for i, x in enumerate(bound(subject)) if i % 12 == 0 or x.number in FEW])
    return chosen


def of(planned: Planner, *numbers: str) -> Work:
    part = {x: shapes for x, shapes in planned.part().items() if not numbers or x in numbers}
    return work(planned, planned.every, part)


def test_all_that_clauses_ask_for_is_counted_and_takes_as_long_as_it_is_seen_to(
    planned: Planner,
) -> None:
    found = of(planned)
    assert found.programs == planned.spent
    assert found.seconds > SECONDS * planned.spent  # and the calls that compile nothing


def test_a_selection_costs_what_it_asks_for_alone(planned: Planner) -> None:
    every, some = of(planned), of(planned, *FEW)
    asked = {
        x
        for given in planned.every
        if given.clause.number in FEW
        for shape in planned.part()[given.clause.number]
        for x in given.asked[shape]
    }
    assert 0 < some.programs == len(asked) < every.programs
    assert of(planned, "none of them").programs == 0
