"""Problems of caches are made simpler as far as they go."""

from typing import Any

import numpy as np

from spec.cache.notation import Problem
from spec.cache.simplify import shorter, slower
from spec.certification.explaining.reduction import smallest
from spec.kinds import KINDS

KIND = KINDS["cache"]


def long() -> Problem:
    """Two texts of several steps, one of them longer, with grouped heads."""
    chance = np.random.default_rng(0)
    sizes = {"B": 2, "H": 9, "G": 3, "N": 47, "M": 33, "D": 4, "E": 5}
    arrays: dict[str, Any] = {
        name: chance.standard_normal([sizes[letter] for letter in axes.split()])
        for name, axes in Problem.axes.items()
        if name not in ("arrivals", "lengths")
    }
    arrivals = np.array([[7, 1], [3, 5], [4, 0], [33, 33]])
    usual = KIND.core("float64")
    return usual.but(**arrays, arrivals=arrivals, lengths=np.array([47, 39]))


def test_texts_of_several_lengths_become_short_ones() -> None:
    """Leaving out tokens alone ends at 40, where both texts are as long as there is room."""
    asked = 0

    def fails(problem: Problem) -> bool:
        nonlocal asked
        asked += 1
        whole = problem.B == 2 and problem.H % problem.G == 0 and problem.q.size > 0
        return bool(whole and problem.ends[0] > problem.ends[1] > 0)

    problem, done = smallest(long(), fails, KIND.simplify)
    assert done
    assert [getattr(problem, x) for x in "HGNMDE"] == [1, 1, 2, 1, 1, 1]
    assert (*problem.ends,) == (2, 1)
    assert asked < 300


def test_each_way_leaves_less() -> None:
    problem = long()
    for other in shorter(problem):
        assert other.N < problem.N
        assert other.ends[0] - other.ends[1] in (8, other.ends[0])
    for other in slower(problem):
        assert (other.arrivals <= problem.arrivals).all()
        assert other.arrivals.sum() < problem.arrivals.sum()
    assert not [*slower(problem.but(arrivals=0 * problem.arrivals))]
