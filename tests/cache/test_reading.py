"""What a cache is asked: in every clause the problem that a state is of says how it is read."""

import numpy as np
import pytest

from spec import about
from spec.cache.definition import DEFINITION, extend
from spec.cache.notation import Chunk
from spec.cache.reading import arriving
from spec.cache.record import State
from spec.notation import Array
from tests.judging import QUICK, found


def told(state: State, chunk: Chunk) -> tuple[Array, State]:
    """What the definition answers to a chunk that the problem of the state names as the next."""
    steps = arriving(state.problem)
    before = np.array([k.shape[1] for k, _ in state.kept])
    places = np.cumsum(np.vstack([0 * before, steps]), axis=0)
    (now,) = np.flatnonzero((places == before).all(axis=1))
    np.testing.assert_array_equal(steps[now], chunk.counts)
    return extend(state, chunk)


@pytest.mark.parametrize("number", about("cache"))
def test_a_state_is_of_the_problem_that_is_read(number: str) -> None:
    record = DEFINITION.but(extend=told, fewer=told)
    assert found(about("cache")[number], record, "float32", QUICK, reach="quick").violation is None
