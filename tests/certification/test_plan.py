"""What runs side by side comes to what it would come to one after another."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from spec import CLAUSES
from spec.certification.judging.plan import How, Item, Plan, granted, in_turn
from spec.certification.judging.verdict import Outcome, Verdict, unrun
from spec.certification.settings import Request, with_definition
from spec.notation import GRADES, HALF, Grade

ITEMS = tuple((f"S{i}", dtype) for dtype in ("float32", "float16", "bfloat16") for i in range(1, 9))
ENDS = ("", "fast", "fast, after looks")


def verdict(item: Item, how: How, needs: Grade, outcome: str) -> Verdict:
    """It holds in the grade that it needs, which it finds; it says how it was begun."""
    grade, _ = how
    number, dtype = item
    found = unrun(CLAUSES[number], dtype, "holds", f"begun in {grade}, few: {how.few}")
    best = max(grade, needs, key=GRADES.index) if dtype in HALF else "strict"
    if outcome == "violated":  # in whatever grade it was begun
        return replace(found, examples=1, outcome="violated", rounding=grade)
    return replace(found, examples=1, rounding=best)


def results(
    seed: int, jobs: int, ends: str = "", order: Sequence[Item] = ITEMS, lost: float = 0
) -> tuple[list[Verdict], str]:
    """The verdicts where so many run at a time, and which of them is done first is chance.

    ends: "fast", or "fast, after looks", where the first violation is the end. lost: how likely it
    is that nothing comes of one, and it is given back.
    """
    facts = random.Random(seed)
    needs = {item: facts.choice(("strict", "strict", "strict", *GRADES)) for item in ITEMS}
    outcomes = {item: facts.choice(("holds",) * 9 + ("violated",)) for item in ITEMS}
    seen = {item: facts.choice(("holds", outcomes[item])) for item in ITEMS}  # by a look
    then = random.Random(seed).sample(order, len(order)) if "looks" in ends else ()
    chance, plan = random.Random(seed + jobs), Plan(order, ends != "", then)
    running: dict[Item, How] = {}
    while running or plan.go_on():
        while plan.waiting and len(running) < jobs:
            item = chance.choice(plan.waiting[: 2 * jobs - 1])
            running[item] = plan.begin(item)
        item = chance.choice([*running])
        if chance.random() < lost:
            del running[item]
            plan.give_back([item])
            continue
        how = running.pop(item)
        plan.note(verdict(item, how, needs[item], (seen if how.few else outcomes)[item]))
    return plan.all(CLAUSES), plan.reason


def violated(verdicts: Iterable[Verdict]) -> set[tuple[str, str, Grade]]:
    return {(v.clause, v.dtype, v.rounding) for v in verdicts if v.outcome == "violated"}


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("seed", range(25))
def test_verdicts_are_the_same_in_whatever_order_they_come(seed: int, ends: str) -> None:
    alone = results(seed, 1, ends)
    assert [(v.clause, v.dtype) for v in alone[0]] == [*ITEMS]
    for jobs in (2, 5):
        assert results(seed, jobs, ends) == alone


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("seed", range(25))
def test_verdicts_are_the_same_whatever_is_lost_on_the_way(seed: int, ends: str) -> None:
    assert results(seed, 5, ends, lost=0.2) == results(seed, 1, ends)


@pytest.mark.parametrize("seed", range(25))
def test_who_looks_first_ends_at_a_violation_if_there_is_one_and_else_has_run_all(
    seed: int,
) -> None:
    found, reason = results(seed, 1, "fast, after looks")
    every, _ = results(seed, 1)
    wrong = [v for v in found if v.outcome == "violated"]
    assert bool(wrong) == bool(reason) == any(v.outcome == "violated" for v in every)
    assert {(v.clause, v.dtype) for v in wrong} <= {item[:2] for item in violated(every)}
    held = [v.message for v in found if v.outcome == "holds"]
    assert all(message.endswith("few: False") for message in held)


@pytest.mark.parametrize("seed", range(25))
def test_in_another_order_the_same_is_violated_and_the_same_grade_is_granted(seed: int) -> None:
    read, _ = results(seed, 1)
    chance = random.Random(seed).sample(ITEMS, len(ITEMS))
    run, _ = results(seed, 2, order=chance)
    assert granted(run) == granted(read)
    assert violated(run) == violated(read)


def test_under_a_budget_all_is_run_by_chance_the_definition_first() -> None:
    hurried = Request(budget=5.0)
    order = in_turn(ITEMS, CLAUSES, "S3", hurried)
    assert order[:3] == (("S3", "float32"), ("S3", "float16"), ("S3", "bfloat16"))
    assert sorted(order) == sorted(ITEMS)
    assert order != in_turn(ITEMS, CLAUSES, "S3", replace(hurried, seed=1))
    fewer = [item for item in ITEMS if item != ("S5", "float16")]
    assert in_turn(fewer, CLAUSES, "S3", hurried) == tuple(i for i in order if i in fewer)


def test_what_is_selected_is_run_before_the_definition_that_is_added() -> None:
    wanted = with_definition(Request(clauses=("S8",)), CLAUSES, "S3").clauses
    order = in_turn(ITEMS[2::5], CLAUSES, "S3", Request(clauses=wanted))
    assert order == tuple(sorted(ITEMS[2::5], key=lambda item: item[0] == "S3"))
    assert in_turn(ITEMS, CLAUSES, "S3", Request()) == ITEMS


def test_who_stops_at_the_first_violation_is_asked_first_what_tells_most() -> None:
    clauses = {number: CLAUSES[number] for number, _ in ITEMS}
    order = in_turn(ITEMS, clauses, "S3", Request(fail_fast=True))
    assert sorted(order) == sorted(ITEMS)
    assert [dtype for _, dtype in order] == [dtype for _, dtype in ITEMS]
    numbers = [number for number, dtype in order if dtype == "float32"]
    assert numbers[0] == "S3"
    catches = [CLAUSES[number].catches for number in numbers]
    new = [len(x.difference(*catches[:place])) for place, x in enumerate(catches)]
    worth = [x / CLAUSES[number].effort for x, number in zip(new, numbers, strict=True)]
    assert worth[1:] == sorted(worth[1:], reverse=True)


def test_after_all_looks_those_are_run_first_that_put_most_problems() -> None:
    items = [(number, "float32") for number in ("A1", "V2", "A11", "M10")]
    plan, run = Plan.of(items, Request(fail_fast=True), CLAUSES), []
    while plan.go_on():
        item = plan.waiting[0]
        how = plan.begin(item)
        run.append((item[0], how.few))
        plan.note(verdict(item, how, "strict", "holds"))
    assert run[:4] == [("A1", True), ("V2", True), ("A11", True), ("M10", True)]
    in_full = [number for number, few in run[4:] if not few]
    assert len(run) == 8
    assert in_full == sorted(["A1", "V2", "A11", "M10"], key=lambda x: -CLAUSES[x].effort)
    assert in_full[0] == "A11"


def test_what_is_stopped_leaves_the_rest_blocked() -> None:
    plan = Plan(ITEMS)
    first, second = ITEMS[:2]
    plan.note(verdict(first, plan.begin(first), "strict", "holds"))
    plan.begin(second)
    plan.stop("time is up")
    assert not plan.go_on()
    found = plan.all(CLAUSES)
    assert [v.outcome for v in found] == ["holds", *["blocked"] * (len(ITEMS) - 1)]
    assert found[1].message == "time is up"


@pytest.mark.parametrize(("outcome", "final"), [("refused", False), ("crashed", True)])
def test_what_is_refused_at_a_look_is_run_in_full(outcome: Outcome, final: bool) -> None:
    item, plan = ITEMS[0], Plan(ITEMS[:1], fail_fast=True, then=ITEMS[:1])
    assert plan.begin(item).few
    plan.note(unrun(CLAUSES[item[0]], item[1], outcome, "it is so"))
    assert plan.go_on() is not final
    assert plan.few(item) is final
