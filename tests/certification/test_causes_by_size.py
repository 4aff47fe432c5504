"""A fault at some sizes is told by them: those that it is first wrong at, and those of none."""

from collections.abc import Callable
from typing import Any

import pytest

from spec import certify
from tests.targets import shapes


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (shapes.one_for_none, "where B = 0, the output has the wrong shape"),
        (shapes.leaves_beyond_seven_queries, "where N > 7, the output is refused"),
    ],
)
def test_it_is_the_only_cause_and_said_to_be_seen(
    target: Callable[..., Any], sentence: str
) -> None:
    certificate = certify(target, profile="standard", dtypes=("float64",))
    (cause,) = certificate.causes
    assert cause.sentence == sentence
    assert cause.clauses
    assert cause.dtypes == ("float64",)
    assert certificate.region.passed
    wrong, inside = cause.problems
    assert wrong == inside > 0
