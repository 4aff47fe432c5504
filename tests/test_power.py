"""The table of the smallest faults that are refused: what it measures, and that it is shown."""

import json
from typing import Any

import pytest

from spec.certification.doors import certify
from tests.power.__main__ import KEPT, PAGE
from tests.power.attention import KINDS, right, wrong
from tests.power.faults import FAMILIES
from tests.power.page import page
from tests.power.search import RULES, STRENGTHS, smallest

pytestmark = pytest.mark.torch
STRONG = 0.2  # of every family: a fifth


@pytest.mark.parametrize("least", [0, 5, len(STRENGTHS) - 1])
def test_the_smallest_strength_is_found(least: int) -> None:
    assert smallest(lambda s: s >= STRENGTHS[least]) == STRENGTHS[least]


def test_none_is_refused_where_the_strongest_is_not() -> None:
    assert smallest(lambda _: False) is None


def test_strengths_fall() -> None:
    assert sorted(STRENGTHS, reverse=True) == [*STRENGTHS]
    assert (STRENGTHS[0], round(STRENGTHS[-1] * 1e7)) == (1.0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_without_a_fault_it_is_right(kind: str) -> None:
    """In the format that has no other bits than it computes with, and by every clause."""
    function = right(kind, "float64").attend
    options: dict[str, Any] = {"dtypes": ("float64",), "profile": "quick", "backend": "torch"}
    assert certify(function, **options, isolation="none").passed


def is_told_from_none(family: str, rule: str) -> None:
    """At a strength that nobody overlooks; at none, what is judged is right."""
    option = FAMILIES[family].option
    assert RULES[rule].refuses(wrong(family, STRONG), option)
    assert not RULES[rule].refuses(wrong(family, 0.0), option)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_judge_tells_a_fault_from_none(family: str) -> None:
    is_told_from_none(family, "float32: quick")


@pytest.mark.parametrize("rule", [x for x in RULES if x.startswith("float") and "quick" not in x])
def test_rules_of_others_tell_a_fault_from_none(rule: str) -> None:
    is_told_from_none("dq", rule)


def test_every_family_is_measured_by_every_rule_and_shown() -> None:
    figures = json.loads(KEPT.read_text())
    assert {*figures["smallest"]} == {*FAMILIES}
    assert {*figures["right"]} == {*KINDS}
    assert {name for table in figures.values() for row in table.values() for name in row} == {
        *RULES
    }
    assert PAGE.read_text() == page(figures)
