"""The clauses about windows of a cache always have a token that the window has left behind."""

import pytest

from spec import about
from spec.cache.clauses.windows import with_earlier_tokens
from spec.certification.judging.drawing import series
from spec.domain import Scope

CLAUSES = about("cache")
ALL = frozenset[str]().union(*(clause.needs for clause in CLAUSES.values()))


@pytest.mark.parametrize("number", ["C43", "C48"])
def test_some_token_sees_none_of_those_that_change(number: str) -> None:
    for problem in series(CLAUSES[number], Scope("float32", ALL), 100, 0):
        since, windowed, _ = with_earlier_tokens(problem)
        assert windowed.window is not None
        assert windowed.window <= since < problem.N
