"""Laws of first keys that stay in sight, run through the definition in fractions."""

import numpy as np

from spec.attention import definition, moves
from spec.attention.contents import UNBOUNDED
from spec.attention.notation import Problem
from spec.attention.proofs.exactly import untrue
from spec.attention.proofs.examples import exactly, square
from spec.notation import Array


def kept(problem: Problem, **changes: object) -> Problem:
    """A query, the key behind it, and the first one of the text."""
    return square(problem).but(causal=True, window=(0, None), first=1).but(**changes)


@exactly(first=1)
def when_all_keys_stay_no_window_passes_any(problem: Problem, first: int | None = None) -> Array:
    """As many first keys as there are, and no bound to the left. The control: one of them."""
    whole = kept(problem, causal=False, window=(0, 1))
    all_of_them = whole.but(first=whole.M if first is None else first)
    return untrue(all_of_them, whole.but(first=0, window=(None, 1)))


@exactly(alone=True)
def a_row_is_its_first_keys_and_its_window(problem: Problem, alone: bool = False) -> Array:
    """o_i is attention over key 0 and key i. The control: over key i alone."""
    whole = kept(problem)
    plain = moves.written_out(whole.but(causal=False, window=UNBOUNDED, first=0))
    rows = []
    for i in range(whole.N):
        seen = np.array([i] if alone else sorted({0, i}))
        rows.append(moves.of_keys(moves.of_queries(plain, slice(i, i + 1)), seen))
    parts = np.concatenate([definition.attention(row) for row in rows], axis=2)
    return parts - definition.attention(whole)


@exactly(by=1)
def first_keys_are_those_at_the_first_places(problem: Problem, by: int = 0) -> Array:
    """Keys in another order, with their places, keep who is first. The control: moved places."""
    whole = moves.placed(kept(problem).but(query_positions=_rows(problem)))
    order = np.roll(np.arange(whole.M), 1)
    other = moves.of_keys(whole, order)
    r = other.key_positions
    assert r is not None
    return untrue(whole, other.but(key_positions=r + by))


def _rows(problem: Problem) -> Array:
    """The numbers of rows as positions of queries.   (B, N)"""
    return np.tile(np.arange(square(problem).N), (problem.B, 1))
