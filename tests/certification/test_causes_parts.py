"""Causes are told apart, each shows an example of its own, and some failures have none."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES
from spec.attention.plug.trials import square
from spec.certification.diagnosing.diagnosis import to_explain
from spec.certification.diagnosing.leads import Found, Lead, Row
from spec.certification.diagnosing.memory import nobody
from spec.certification.diagnosing.mending import Mending
from spec.certification.diagnosing.separating import Split, best
from spec.certification.diagnosing.table import Table
from spec.certification.diagnosing.telling import Telling
from spec.certification.explaining.reduction import smallest
from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.survey import Survey
from spec.certification.settings import Request
from spec.kinds import KINDS
from tests.certification.made import verdict

KIND = KINDS["attention"]
CAUSAL = square("float32", N=8, M=8).but(causal=True)


class Worth(Table):
    """A table of which it is known what conjunctions are worth, and how much is wrong inside."""

    def parted(self, _: Sequence[Any]) -> float:
        return self.weight

    def share(self, _: Split) -> float:
        return 0.5


@pytest.mark.parametrize(("firsts", "least"), [(1, 1.5), (2, 2.25), (3, 3.375)])
def test_each_further_cause_says_half_as_much_again(firsts: int, least: float) -> None:
    """As what one set says: then they are causes, and not one."""
    one, known = Split((0,), 10.0), [(place,) for place in range(firsts)]
    for said, is_one in ((0.99 * least, True), (1.01 * least, False)):
        table = Worth(None, None, 10 * said, (), None)  # type: ignore[arg-type]
        assert table.is_one(one, Split((1,), 12.0), known) is is_one


def test_what_is_right_inside_and_wrong_outside_is_no_description() -> None:
    said = np.random.default_rng(0).random((200, 6)) < 0.5
    having, cost = np.ones(6, dtype=bool), np.full(6, 5.0)
    (found,) = best(said, ~said[:, 3], np.ones(200), cost, having)
    assert found == Split((), 0.0)
    (found,) = best(said, said[:, 3], np.ones(200), cost, having)
    assert found.columns == (3,)


def test_of_a_set_and_one_inside_it_the_wider_is_taken_out() -> None:
    wide, narrow = Cause(("causal",), "", "is wrong"), Cause(("causal", "N > 4"), "", "is NaN")
    other = Cause(("M > 8",), "gradients", "is wrong")
    for causes in ([wide, narrow, other], [narrow, wide, other]):
        region = Region.outside(causes, "", passed=True)
        assert {*region.features} == {("causal",), ("gradients asked for", "M > 8")}
        holds = KIND.features.sentence(region.sentence)
        assert not holds(CAUSAL, "")
        assert not holds(CAUSAL.but(**few(CAUSAL)), "")
        assert holds(square("float32", N=3), "")


def test_a_region_says_what_holds_where_a_cause_has_a_negative_part() -> None:
    cause = Cause(("not causal", "no window", "N % 4 != 0"), "", "is wrong")
    assert Region.outside([cause], "", passed=True).sentence == "(causal or a window or N % 4 = 0)"
    cause = replace(cause, features=("causal", "N % 4 != 0"))
    assert Region.outside([cause], "", passed=True).sentence == "not (causal and N % 4 != 0)"


def few(problem: Any) -> dict[str, Any]:
    """Two queries in the place of all."""
    return {"q": problem.q[:, :, :2], "dout": problem.dout[:, :, :2]}


def explained(**fields: Any) -> list[tuple[str, str]]:
    """Of four failing clauses those that are explained."""
    order = ("A1", "M1", "M10", "C1")
    survey = Survey("mine", "attention", "A1", {}, order, (), "", versions={}, **fields)
    outcomes = zip(order, ("violated", "violated", "crashed", "violated"), strict=True)
    failing = [verdict(number, outcome) for number, outcome in outcomes]
    return to_explain(Request("mine.py:attend"), survey, failing[::-1])


def test_what_is_known_to_deviate_is_not_explained() -> None:
    every = [(number, "float32") for number in ("A1", "M1", "M10", "C1")]
    assert explained() == every
    assert explained(deviations={"M1": "published"}) == [every[0], *every[2:]]
    assert explained(deviations={"M10": "published", "C1": "so built"}) == every[:2]


class Seen:
    """Evidence of a target that is wrong on some problems, and on which it tells."""

    def __init__(self, wrong: Callable[[Any], bool]) -> None:
        self.wrong, self.grades = wrong, dict[str, str]()
        self.through_lens = False

    def row(self, _: Lead, problem: Any) -> Row:
        return Row(problem, "is wrong" * self.wrong(problem), "", np.array([]))

    def draws(self, _: Lead) -> list[Row]:
        return []

    def through(self, _: Any, subjects: Any, grades: Any) -> "Seen":
        assert not grades
        return Seen(subjects)

    def way_down(
        self, lead: Lead, accepts: Callable[[Row], bool], most: int, numbers: bool
    ) -> tuple[Any, list[Row], bool]:
        ways = KIND.simplify[:-1]
        found, done = smallest(lead.problem, lambda p: accepts(self.row(lead, p)), ways)
        return found, [], done and bool(most) and numbers


def example(*others: str) -> Any:
    """The smallest problem of what is wrong where it is causal, beside other causes."""
    lead = Lead((CLAUSES["A1"],), "", drawn=False, problem=CAUSAL, how="is wrong")
    causes = [Cause((features,), "", "is wrong") for features in ("causal", *others)]
    found = [Found(cause, lead, (CAUSAL, *smaller())) for cause in causes]
    search: Any = SimpleNamespace(found=found, kind=KIND)
    telling = Telling(None, search, Seen(lambda _: True), nobody)  # type: ignore[arg-type]
    smallest_one, _ = telling._smallest(found[0])
    return None if smallest_one is None else smallest_one.problem


def smaller() -> Iterator[Any]:
    return (square("float32", N=N, M=8).but(causal=True) for N in (7, 6, 3, 2))


def test_the_example_of_a_cause_lies_in_no_other() -> None:
    assert example().N == 1
    assert example("N < 4").N == 4
    assert example("N > 4").N == 1
    assert example("N < 4", "M < 5").M == 5
    assert example("N > 1", "N = 1") is None
    assert example("N < 4").causal


class Lens(Mending):
    """One lens, through which a target is wrong on some problems."""

    def others(self) -> Iterator[tuple[str, "Mending"]]:
        yield "right under a convention", self

    def follows(self, _: "Mending") -> bool:
        return False

    def raw(self) -> Any:
        return "the target"

    def subjects(self, raw: Any) -> Any:
        return raw and self.choices


def mended(through: Callable[[Any], bool]) -> bool:
    """Whether a lens mends what is wrong where it is causal."""
    plain = square("float32", N=8, M=8)
    rows = [Row(CAUSAL, "is wrong", "", np.array([True]))] * 30
    rows += [Row(plain, "", "", np.array([False]))] * 30
    table = Table.of(rows, np.ones(1))
    lead = Lead((CLAUSES["A1"],), "", drawn=False, problem=CAUSAL, how="is wrong")
    lens = Lens(None, choices=through)  # type: ignore[arg-type]
    seen: Any = Seen(lambda p: p.causal)
    return lens.right(seen, lead, Split((0,), 1.0), table) is not None


def test_a_lens_mends_what_is_wrong_and_leaves_right_what_is_right() -> None:
    assert mended(lambda _: False)
    assert not mended(lambda p: p.causal)
    assert not mended(lambda p: not p.causal)
    assert not mended(lambda _: True)
