"""What runs side by side comes to what it would come to one after another."""

import random
from dataclasses import replace

import pytest

from spec import CLAUSES
from spec.certification.judging.plan import Item, Plan
from spec.certification.judging.verdict import Verdict, unrun
from spec.notation import GRADES, HALF, Grade

ITEMS = tuple((f"S{i}", dtype) for dtype in ("float32", "float16", "bfloat16") for i in range(1, 9))


def verdict(item: Item, grade: Grade, needs: Grade, outcome: str) -> Verdict:
    """It holds in the grade that it needs, which it finds; it says in which it was begun."""
    number, dtype = item
    found = unrun(CLAUSES[number], dtype, "holds", f"begun in {grade}")
    best = max(grade, needs, key=GRADES.index) if dtype in HALF else "strict"
    if outcome == "violated":  # in whatever grade it was begun
        return replace(found, examples=1, outcome="violated", rounding=grade)
    return replace(found, examples=1, rounding=best)


def results(seed: int, jobs: int, fail_fast: bool) -> tuple[list[Verdict], str]:
    """The verdicts where so many run at a time, and which of them is done first is chance."""
    facts = random.Random(seed)
    needs = {item: facts.choice(("strict", "strict", "strict", *GRADES)) for item in ITEMS}
    outcomes = {item: facts.choice(("holds",) * 9 + ("violated",)) for item in ITEMS}
    chance, plan = random.Random(seed + jobs), Plan(ITEMS, fail_fast)
    running: dict[Item, Grade] = {}
    while running or plan.go_on():
        while plan.waiting and len(running) < jobs:
            item = chance.choice(plan.waiting[: 2 * jobs - 1])
            running[item] = plan.begin(item)
        item = chance.choice([*running])
        plan.note(verdict(item, running.pop(item), needs[item], outcomes[item]))
    return plan.all(CLAUSES), plan.reason


@pytest.mark.parametrize("fail_fast", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_verdicts_are_the_same_in_whatever_order_they_come(seed: int, fail_fast: bool) -> None:
    alone = results(seed, 1, fail_fast)
    assert [(v.clause, v.dtype) for v in alone[0]] == [*ITEMS]
    for jobs in (2, 5):
        assert results(seed, jobs, fail_fast) == alone


def test_what_is_stopped_leaves_the_rest_blocked() -> None:
    plan = Plan(ITEMS, fail_fast=False)
    first, second = ITEMS[:2]
    plan.note(verdict(first, plan.begin(first), "strict", "holds"))
    plan.begin(second)
    plan.stop("time is up")
    assert not plan.go_on()
    found = plan.all(CLAUSES)
    assert [v.outcome for v in found] == ["holds", *["blocked"] * (len(ITEMS) - 1)]
    assert found[1].message == "time is up"
