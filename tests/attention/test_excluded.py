"""No problem of a clause has an option that the clause is without."""

from collections.abc import Callable, Mapping

import pytest

from spec import CLAUSES
from spec.attention.contents import UNBOUNDED
from spec.attention.excluded import AFTER_BIAS, LEADING, RESTARTING, excluded
from spec.attention.notation import Problem
from spec.attention.options import KINDS
from spec.certification.judging.binding import without
from spec.certification.judging.drawing import series
from spec.domain import Scope

HAS: Mapping[str, Callable[[Problem], bool]] = {
    "a boolean mask": lambda p: p.mask is not None and p.mask.dtype == bool,
    "an additive mask": lambda p: p.mask is not None and p.mask.dtype != bool,
    "causality": lambda p: p.causal,
    "a window": lambda p: p.window != UNBOUNDED,
    "a soft-cap": lambda p: p.softcap is not None,
    "attention sinks": lambda p: p.sinks is not None,
    "ALiBi slopes": lambda p: p.slopes is not None,
    "segments": lambda p: p.query_segments is not None,
    "positions": lambda p: p.placed,
    "a scale": lambda p: p.scale is not None,
    "fewer key heads than query heads": lambda p: p.grouped,
    "values wider or narrower than keys": lambda p: p.E != p.D,
    "N other than M": lambda p: p.N != p.M,
    LEADING: lambda p: p.first > 0,
    AFTER_BIAS: lambda p: p.softcap is not None,
    RESTARTING: lambda p: p.query_segments is not None,
}
CHOSEN = {AFTER_BIAS: {"softcap": "after-bias"}, RESTARTING: {"positions": "in-sequence"}}
OURS = [clause for clause in CLAUSES.values() if clause.about == "attention"]


def test_what_is_excluded_is_not_drawn() -> None:
    wrong = []
    for clause in OURS:
        for option in excluded(clause.over):
            scope = Scope("float32", KINDS, conventions=CHOSEN.get(option, {}))
            drawn = series(clause, scope, 8, 0)
            wrong += [(clause.number, option)] * any(map(HAS[option], drawn))
    assert not wrong


@pytest.mark.parametrize("option", HAS)
def test_every_option_is_in_the_problems_of_some_clause(option: str) -> None:
    assert any(option not in excluded(clause.over) for clause in OURS)


def test_it_is_said_of_a_clause() -> None:
    assert without(CLAUSES["K1"]) == "a soft-cap, attention sinks"
    assert without(CLAUSES["A1"]) == ""
    assert AFTER_BIAS in without(CLAUSES["M22"])
    assert RESTARTING in without(CLAUSES["C12"])
    assert "an additive mask" in without(CLAUSES["B9"])
    assert LEADING in without(CLAUSES["I5"])
    assert "causality" not in without(CLAUSES["X11"])
    assert without(CLAUSES["D1"]) == ""
