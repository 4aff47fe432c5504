"""A set of which little is wrong inside is made narrower, and no other is."""

from functools import cache

import pytest

from spec import CLAUSES
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.leads import Lead
from spec.certification.diagnosing.narrower import narrowed
from spec.certification.diagnosing.table import Table
from spec.certification.judging.bounds import Bounds
from spec.kinds import KINDS

KIND = KINDS["attention"]
NOWHERE = Bounds.of(KIND, "")
COUNT = 250  # problems that are drawn in a format


@cache
def drawn(name: str) -> tuple[Evidence, Lead, Table]:
    """Problems, and which of them a mistake answers wrong."""
    evidence = Evidence(KIND, {"float32": KIND.subjects[name]}, {}, NOWHERE, COUNT, "standard")
    lead = Lead((CLAUSES["A1"],), "", False, None, "is wrong")
    return evidence, lead, Table.of(evidence.draws(lead), evidence.prices)


def said(name: str, *features: str) -> set[str]:
    """What a set of problems is made, on some of which a mistake is wrong."""
    evidence, lead, table = drawn(name)
    split = table.worth(tuple(map(evidence.names.index, features)))
    return {*evidence.named(narrowed(evidence, lead, split, table, NOWHERE).columns)}


@pytest.mark.slow
def test_a_set_that_is_too_wide_is_narrowed() -> None:
    name = "takes_the_keys_of_a_window_to_be_in_order"
    wide, narrow = "positions out of order", said(name, "positions out of order")
    assert wide in narrow
    assert any("window" in word or "a bound" in word for word in narrow)


@pytest.mark.slow
def test_what_a_narrower_word_implies_is_not_said() -> None:
    assert said("ignores_the_positions_of_keys", "key positions") == {
        "key positions that differ from row numbers"
    }


@pytest.mark.slow
def test_of_few_problems_more_than_usual_may_be_wrong_by_chance() -> None:
    assert {"ALiBi slopes"} < said("has_slopes_of_its_own", "ALiBi slopes")


@pytest.mark.slow
def test_a_set_that_is_clear_stays() -> None:
    assert said("ignores_causality", "causal", "a masked key") == {"causal", "a masked key"}


def test_where_nothing_is_wrong_nothing_is_narrowed() -> None:
    assert said("ignores_causality", "not causal") == {"not causal"}
