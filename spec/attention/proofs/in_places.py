"""Laws of positions, run through the definition in fractions: causality, a window and slopes."""

import numpy as np

from spec.attention import definition, moves
from spec.attention.notation import Problem
from spec.attention.proofs.exactly import untrue
from spec.attention.proofs.examples import exactly
from spec.notation import Array


def standing(problem: Problem, **changes: object) -> Problem:
    """Tokens of both sides somewhere from -4 to 4, and all that depends on it, with a mask."""
    chance = problem.chance()
    lengths = {"query_positions": problem.N, "key_positions": problem.M}
    places = {x: chance.integers(-4, 5, (problem.B, length)) for x, length in lengths.items()}
    slopes = np.resize([1.0, 2.0], problem.H)
    asked = {"causal": True, "window": (3, None), "slopes": slopes, **places, **changes}
    return problem.but(**asked)


def moved(problem: Problem, by: int, of_keys: int) -> Problem:
    """The problem with a number added to the places of its queries, and one to those of keys."""
    p, r = problem.query_positions, problem.key_positions
    assert p is not None
    assert r is not None
    return problem.but(query_positions=p + by, key_positions=r + of_keys)


@exactly(of_keys=6)
def places_have_no_origin(problem: Problem, of_keys: int = 7) -> Array:
    """Positions p + 7 and r + 7 are p and r. The control: r + 6."""
    placed = standing(problem)
    return untrue(placed, moved(placed, 7, of_keys))


@exactly(window=(1, 1))
def causality_knows_the_order_alone(
    problem: Problem, window: tuple[int | None, int | None] = (None, None)
) -> Array:
    """Causality by p and r is that by 3 p + 1 and 3 r + 1. The control also has a window."""
    placed = standing(problem, window=window, slopes=None)
    p, r = placed.query_positions, placed.key_positions
    assert p is not None
    assert r is not None
    return untrue(placed, placed.but(query_positions=3 * p + 1, key_positions=3 * r + 1))


@exactly(along=False)
def tokens_move_with_their_places(problem: Problem, along: bool = True) -> Array:
    """Keys in another order, positions and all, are the same. The control leaves those behind."""
    placed = standing(problem)
    order = np.roll(np.arange(problem.M), 1)
    other = moves.of_keys(placed, order)
    other = other if along else other.but(key_positions=placed.key_positions)
    return untrue(placed, other)


@exactly(window=(1, 2))
def places_may_be_turned_round(
    problem: Problem, window: tuple[int | None, int | None] = (2, 1)
) -> Array:
    """A window (1, 2) by p and r is (2, 1) by -p and -r. The control: it is (1, 2)."""
    placed = standing(problem, causal=False, window=(1, 2))
    p, r = placed.query_positions, placed.key_positions
    assert p is not None
    assert r is not None
    turned = placed.but(query_positions=-p, key_positions=-r, window=window)
    return untrue(placed, turned)


@exactly(at=1)
def a_chunk_is_a_part_of_the_whole(problem: Problem, at: int = 0) -> Array:
    """Every query but the first, with its place, returns what it did. The control: one further."""
    placed = standing(problem)
    chunk = moves.of_queries(placed, slice(1, None))
    found = definition.attention(moved(chunk, at, 0))
    return found - definition.attention(placed)[:, :, 1:]


@exactly(apart=1)
def tokens_at_one_place_see_each_other(problem: Problem, apart: int = 0) -> Array:
    """If all stand at 5, nothing is hidden or far. The control: keys stand one place ahead."""
    whole = standing(problem)
    heap = whole.but(
        query_positions=np.full((problem.B, problem.N), 5),
        key_positions=np.full((problem.B, problem.M), 5 + apart),
    )
    return untrue(heap, problem.but(causal=False))
