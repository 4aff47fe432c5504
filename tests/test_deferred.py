"""Budgets wait until somebody asks, and then are what they would have been at once."""

import numpy as np
import pytest

from spec import CLAUSES
from spec.attention import rounding
from spec.attention.rounding import altogether
from spec.attention.truth import truth
from spec.comparison import Violation, at_least, at_most, equal, measuring
from spec.deferred import Deferred, deferred
from spec.notation import Array
from tests.judging import found

X = np.arange(6.0).reshape(2, 3)


def never() -> Array:
    raise AssertionError("it was evaluated")


@pytest.mark.parametrize("relation", [equal, at_most, at_least])
def test_who_is_right_to_the_last_bit_asks_for_no_budget(relation: object) -> None:
    with measuring() as measure:
        relation(X, X, within=2 * deferred(never)[..., ::-1] + X)  # type: ignore[operator]
    assert measure.worst == 0


@pytest.mark.parametrize(("relation", "off"), [(equal, 1.0), (at_most, 1.0), (at_least, -1.0)])
def test_a_budget_that_waited_is_kept_to(relation: object, off: float) -> None:
    for budget in (2.0, 1.0):
        relation(X + off, X, within=deferred(lambda b=budget: b + 0 * X))  # type: ignore[operator,misc]
    with pytest.raises(Violation, match=r"at \(0, 0\).*within 0\.5"):
        relation(X + off, X, within=deferred(lambda: 0.5 + 0 * X))  # type: ignore[operator]


def test_the_shape_of_a_budget_is_seen_where_it_is_used() -> None:
    with pytest.raises(Violation, match="shape"):
        equal(X + 1, X, within=deferred(lambda: np.ones(5)))


MADE = {
    "a sum": lambda x: x + X,
    "a sum, the other way round": lambda x: X + x,
    "a product with a number": lambda x: 2 * x / 3,
    "a matrix product": lambda x: (x @ X.T, X.T @ x),
    "a number of NumPy first": lambda x: np.float64(3) * x,
    "a function": lambda x: np.sqrt(np.abs(-x)),
    "the larger": lambda x: np.maximum(x, 2),
    "a part": lambda x: x[:, [2, 0]][..., None],
    "rows moved, a mean": lambda x: x.swapaxes(0, 1).mean(axis=0),
    "a sum along an axis, of a ufunc": lambda x: np.add.reduce(x, axis=1),
    "padded": lambda x: np.pad(x, 1),
    "repeated": lambda x: np.tile(x, 3),
    "chosen": lambda x: np.where(X > 2, x, 0),
    "its shape": lambda x: np.array(x.shape),
    "its length, and rows": lambda x: (len(x), *x),
    "a number": lambda x: float(x[1, 2]),
    "a question": lambda x: bool((x <= X).all()) and bool(x[0, 1]),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_what_is_made_of_an_array_that_waits_is_what_is_made_of_it(made: object) -> None:
    late, now = made(deferred(X.copy)), made(X)  # type: ignore[operator]
    for one, other in zip(late, now, strict=True) if isinstance(now, tuple) else [(late, now)]:
        np.testing.assert_array_equal(np.asarray(one), other)


def test_to_add_to_an_array_that_waits_changes_no_other() -> None:
    x = kept = deferred(X.copy)
    x += 1
    y = X.copy()
    y += kept
    np.testing.assert_array_equal(np.asarray(x), X + 1)
    np.testing.assert_array_equal(np.asarray(kept), X)
    np.testing.assert_array_equal(y, 2 * X)


def test_it_is_evaluated_once() -> None:
    calls = []
    late = Deferred(lambda: calls.append(0) or X)  # type: ignore[func-returns-value]
    assert not calls
    assert late.sum() == late.array.sum() == X.sum()
    assert len(calls) == 1


def test_two_ways_to_write_a_mask_need_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    kept = altogether.bounds
    monkeypatch.setattr(rounding, "bounds", lambda problem: asked.append(0) or kept(problem))
    finding = found(CLAUSES["M1"], truth(), "float32")
    assert finding.violation is None
    assert finding.examples
    assert not asked
