"""How texts lie in arrays that hold several: the segments of queries and of keys.

Mostly one text behind the other, each of any length in both arrays, so that some have no keys, some
no queries, and some are not there at all. Now and then labels are no numbers in a row, the tokens
of several texts take turns, or padding fills the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spec.choices import generator
from spec.notation import Array

if TYPE_CHECKING:
    from spec.attention.notation import Problem

MOST = 4  # texts in a sequence
LABELS = (3, 0, 7, 16, 19, 256, 259)  # in any order; some are alike in their last bits


def drawn(seed: int, batch: int, queries: int, keys: int) -> tuple[Array, Array]:
    """Segments (B, N) and (B, M); those of keys are often those of queries where N = M."""
    chance = generator(seed)
    alike = queries == keys and chance.random() < 0.5
    odd, mixed, padded = chance.random(3) < 0.25
    found = np.zeros((batch, queries), dtype=int), np.zeros((batch, keys), dtype=int)
    for mine, theirs in zip(*found, strict=True):
        count = int(chance.integers(1, MOST + 1))
        labels = chance.permutation(LABELS)[:count] if odd else np.arange(count)
        mine[:] = in_a_row(chance, labels, queries, mixed, padded)
        theirs[:] = mine if alike else in_a_row(chance, labels, keys, mixed, padded)
    return found


def in_a_row(
    chance: np.random.Generator, labels: Array, length: int, mixed: bool, padded: bool
) -> Array:
    """Segments of a sequence; mixed: texts take turns. padded: at the end there may be none."""
    cuts = np.sort(chance.integers(0, length + 1, len(labels) - 1))
    x = np.repeat(labels, np.diff(cuts, prepend=0, append=length))
    x = chance.permutation(x) if mixed else x
    return np.where(np.arange(length) < length - padded * chance.integers(length // 2 + 1), x, -1)


class Text(NamedTuple):
    """The sequence that a text stands in, and the rows there of its queries and of its keys."""

    sequence: int
    q: Array
    k: Array


def of(problem: Problem) -> list[Text]:
    """All texts of a problem, those without keys and without queries among them."""
    given = problem.query_segments, problem.key_segments
    whole = (np.zeros((problem.B, length), int) for length in (problem.N, problem.M))
    both = [zeros if x is None else x for x, zeros in zip(given, whole, strict=True)]
    found = [(b, own) for b, rows in enumerate(zip(*both, strict=True)) for own in _texts(*rows)]
    return [Text(b, *map(np.flatnonzero, own)) for b, own in found]


def _texts(queries: Array, keys: Array) -> Iterator[tuple[Array, Array]]:
    """For each text of a sequence, which queries and which keys are of it."""
    nobody = np.zeros(len(queries), bool), np.zeros(len(keys), bool)
    if (queries < 0).any():
        yield queries < 0, nobody[1]
    if (keys < 0).any():
        yield nobody[0], keys < 0
    for text in np.union1d(queries, keys):
        if text >= 0:
            yield queries == text, keys == text


def added(problem: Problem) -> int:
    """How many keys of each text are new, as far as all have so many."""
    if not problem.added:
        return 0
    return min(problem.added, min((len(text.k) for text in of(problem)), default=0))
