"""Laws of decoding, run through the definition of attention in fractions, nothing forgiven."""

from typing import Literal

import numpy as np

from spec.attention import definition, moves
from spec.attention.notation import Problem
from spec.attention.proofs.examples import exactly, square
from spec.notation import Array
from spec.proving.theorem import flat

Corner = Literal["top-left", "bottom-right"]


def chunk(problem: Problem, start: int, stop: int, corner: Corner) -> Problem:
    """The queries from `start` to `stop`, and all keys that came before the last of them."""
    part = moves.of_keys(moves.of_queries(problem, slice(start, stop)), slice(0, stop))
    return part.but(corner=corner)


@exactly(causal=True, later=1)
def a_token_is_a_row_of_one_pass(problem: Problem, later: int = 0) -> Array:
    """Token t and the keys so far give row t of one pass. The control gives row t - 1."""
    whole = square(problem)
    o = definition.attention(whole)
    rows = [chunk(whole, t, t + 1, "bottom-right").but(causal=False) for t in range(whole.N)]
    answers = np.concatenate([definition.attention(row) for row in rows], axis=2)
    return answers - np.roll(o, later, axis=2)


@exactly(causal=True, corner="top-left")
def chunks_are_rows_of_one_pass(problem: Problem, corner: Corner = "bottom-right") -> Array:
    """Cut anywhere, two chunks have the rows of one pass. The control: the other corner."""
    whole = square(problem)
    o, found = definition.attention(whole), []
    for cut in range(1, whole.N):
        parts = [chunk(whole, 0, cut, corner), chunk(whole, cut, whole.N, corner)]
        answers = np.concatenate([definition.attention(part) for part in parts], axis=2)
        found.append(answers - o)
    return flat(found)


@exactly(causal=True, corner="bottom-right")
def first_queries_need_no_others(problem: Problem, corner: Corner | None = None) -> Array:
    """Queries at places of their own have their rows, whatever keys lie ahead of all of them.

    The control hangs the last of these queries at the last key.
    """
    whole = square(problem)
    o, found = definition.attention(whole), []
    for start in range(whole.N):
        few = moves.of_queries(whole, slice(start, start + 2))
        places = np.broadcast_to(np.arange(start, start + few.N), (few.B, few.N))
        asked = few.but(query_positions=places) if corner is None else few.but(corner=corner)
        found.append(definition.attention(asked) - o[:, :, start : start + 2])
    return flat(found)


@exactly(causal=True, lost=1)
def a_chunk_needs_the_keys_of_its_first_window(problem: Problem, lost: int = 0) -> Array:
    """A chunk, its keys and the W - 1 before them give rows of one pass. The control has W - 2."""
    whole = square(problem)
    found = []
    for W in range(2, whole.N + 1):
        windowed = whole.but(window=(W - 1, 0))
        o = definition.attention(windowed)
        for start in range(whole.N):
            stop, first = min(start + 2, whole.N), max(start - (W - 1 - lost), 0)
            part = chunk(windowed, start, stop, "bottom-right")
            part = moves.of_keys(part, slice(first, None))
            found.append(definition.attention(part) - o[:, :, start:stop])
    return flat(found)


@exactly(causal=True, lost=1)
def every_token_counts_once(problem: Problem, lost: int = 0) -> Array:
    """For q = 0 the answers are running means. The control loses the first token."""
    whole = square(problem.but(q=0 * problem.q))
    v = definition.shared(whole.v, whole.H)
    sums = np.cumsum(v, axis=2) - lost * v[:, :, :1]
    counts = np.arange(1, whole.N + 1)[:, None]
    return counts * definition.attention(whole) - sums
