"""The search for the smallest problem: it ends, whatever of a problem has to stay."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
import pytest

from spec import about as clauses_about
from spec.attention.plug.trials import core
from spec.attention.simplify import WAYS
from spec.certification.explaining.reduction import smallest
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.kind import Kind
from spec.kinds import KINDS

MOST = 300  # steps of a search; where ways undo each other, there is no end of them
EVERY = 3  # of so many clauses one is asked for a problem


def drawn(kind: Kind) -> Iterator[Any]:
    """A problem of some of the clauses of a kind."""
    truth = kind.truth()
    for clause in [*clauses_about(kind.about).values()][::EVERY]:
        yield from series(clause, scope_for(clause, truth, "float32", "strict", "quick"), 1, 0)


def asked(problem: Any) -> list[str]:
    """What a problem says that is not said by default."""
    defaults = {f.name: f.default for f in fields(problem) if f.default is not MISSING}
    return [name for name, default in defaults.items() if getattr(problem, name) is not default]


def ends(kind: Kind, problem: Any, stays: list[str]) -> bool:
    """Whether a search that keeps something is over before its steps are."""
    left = iter(range(MOST))

    def fails(simpler: Any) -> bool:
        return next(left, None) is not None and {*stays} <= {*asked(simpler)}

    smallest(problem, fails, kind.simplify)
    return next(left, None) is not None


@pytest.mark.quick("alibi", "sinusoidal", "feed*", "rotary", "dropout", "merging", "cache", "layer")
@pytest.mark.parametrize("about", KINDS)
def test_a_search_ends_whatever_has_to_stay(about: str) -> None:
    for problem in drawn(KINDS[about]):
        every = asked(problem)
        for stays in ([], every, *([name] for name in every)):
            assert ends(KINDS[about], problem, stays), f"{stays} of {problem}"


@pytest.mark.quick("alibi", "sinusoidal", "rotary", "merging", "feed*", "cache", "dropout", "layer")
@pytest.mark.parametrize("about", KINDS)
def test_an_empty_problem_is_made_smaller_and_changed_as_any_other(about: str) -> None:
    kind = KINDS[about]
    for problem in drawn(kind):
        for letter in {*problem.letters} - {"A"}:  # there is no layer without columns
            with suppress(ValueError, IndexError):  # a kind may have no problem of that length
                empty = problem.part(letter, np.arange(0))
                others = (
                    *(x for way in kind.simplify for x in way(empty)),
                    *kind.causes.twists(empty),
                )
                assert {type(x) for x in others} <= {kind.problem}, (letter, problem)


def test_it_ends_where_no_way_helps() -> None:
    problem = core("float64", N=7, M=9, D=4).but(scale=2.0, memory="strided", seed=5)
    found, done = smallest(problem, lambda p: p.M >= 3 and p.q.any(), WAYS)
    assert done
    assert (found.B, found.H, found.N, found.M, found.D, found.E) == (1, 1, 1, 3, 1, 1)
    assert found.q.tolist() == [[[[1.0]]]]
    assert not found.k.any()
    assert (found.scale, found.memory, found.seed) == (None, "contiguous", 0)
