"""A cause is told as most of what is wrong fails."""

from dataclasses import replace

import numpy as np

from spec import CLAUSES
from spec.certification.diagnosing.leads import Lead, Row, usual

LEAD = Lead((CLAUSES["A1"],), "", False, "a problem", "is NaN")


def rows(**count: int) -> list[Row]:
    """So many rows that fail in each way."""
    ways = {"wrong": "is wrong", "nan": "is NaN"}
    found = ((way, place) for way, many in count.items() for place in range(many))
    return [Row(f"{way} {place}", ways[way], LEAD.key, np.zeros(1)) for way, place in found]


def test_the_failure_is_that_of_most() -> None:
    assert usual(LEAD, rows(nan=2, wrong=5)) == replace(LEAD, how="is wrong", problem="wrong 0")


def test_a_failure_that_half_of_them_show_stays() -> None:
    for found in (rows(nan=3, wrong=3), rows(nan=1), []):
        assert usual(LEAD, found) is LEAD
