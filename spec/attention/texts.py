"""How texts lie in arrays that hold several: the segments of queries and of keys.

Mostly one text behind the other, each of any length in both arrays, so that some have no keys, some
no queries, and some are not there at all. Now and then labels are no numbers in a row, the tokens
of several texts take turns, or padding fills the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spec.notation import Array
from spec.stream import Stream
from spec.subject import Refused

if TYPE_CHECKING:
    from spec.attention.notation import Problem

MOST = 4  # texts in a sequence
LABELS = (3, 0, 7, 16, 19, 256, 259)  # in any order; some are alike in their last bits


def several(problem: Problem) -> bool:
    """Whether segments tell more than one text in a sequence, or it is not at its start."""
    return problem.query_segments is not None and lengths(problem) is None


def apart(problem: Problem) -> bool:
    """Whether there are segments, and those of keys are others than those of queries."""
    mine, theirs = problem.query_segments, problem.key_segments
    return mine is not None and not np.array_equal(mine, np.asarray(theirs))


def lengths(problem: Problem) -> tuple[Array, Array] | None:
    """How many queries and keys are of the only text of each sequence, where padding follows it.

    None where that does not tell all that segments do.   two of (B,)
    """
    if problem.query_segments is None or problem.key_segments is None:
        return None
    both = problem.query_segments, problem.key_segments
    most = np.concatenate(both, axis=1).max(axis=1, keepdims=True, initial=-1)
    n, m = ((x >= 0).sum(axis=1) for x in both)
    for x, length in zip(both, (n, m), strict=True):
        told = np.where(np.arange(x.shape[1]) < length[:, None], most, -1)
        if (np.maximum(x, -1) != told).any():
            return None
    return n, m


def of_queries(_: Array, problem: Problem) -> Array:
    """Lengths (B,), behind which there is padding.

    Raises Refused: they do not tell it.
    """
    return _told(problem)[0]


def of_keys(_: Array, problem: Problem) -> Array:
    """Lengths (B,), behind which there is padding.

    Raises Refused: they do not tell it.
    """
    return _told(problem)[1]


def _told(problem: Problem) -> tuple[Array, Array]:
    found = lengths(problem)
    if found is None:
        raise Refused("a length tells of one text, and of padding behind it")
    return found[0].astype(np.int32), found[1].astype(np.int32)


def alike(segments: Array, problem: Problem) -> Array:
    """Those of queries and of keys at once.

    Raises Refused: they have others.
    """
    if apart(problem):
        raise Refused("one array of segments is that of queries and of keys")
    return segments.astype(np.int32)


BOTH = "segment_ids"  # told once
LENGTHS = ("query_seq_lengths", "key_value_seq_lengths")
# How else segments are told of queries and of keys, and what it is then that is told.
TOLD: tuple[Mapping[str, Callable[[Array, Problem], Array]], ...] = (
    {LENGTHS[0]: of_queries, BOTH: alike},
    {LENGTHS[1]: of_keys},
)


def drawn(
    seed: int, batch: int, queries: int, keys: int, *, many: bool = True, others: bool = True
) -> tuple[Array, Array]:
    """Segments (B, N) and (B, M); those of keys are often those of queries where N = M.

    many: of several texts, and not of one with padding behind it. others: those of keys may be
    others than those of queries; if not, N = M.
    """
    chance = Stream(seed)
    if not many:
        both = [of_one(chance, batch, length) for length in (queries, keys)]
        return both[0], both[1 if others else 0]
    same = (queries == keys and chance.random() < 0.5) or not others
    odd, mixed, padded = chance.random(3) < 0.25
    found = np.zeros((batch, queries), dtype=int), np.zeros((batch, keys), dtype=int)
    for mine, theirs in zip(*found, strict=True):
        count = chance.randrange(1, MOST + 1)
        labels = chance.permutation(LABELS)[:count] if odd else np.arange(count)
        mine[:] = in_a_row(chance, labels, queries, mixed, padded)
        theirs[:] = mine if same else in_a_row(chance, labels, keys, mixed, padded)
    return found


def of_one(chance: Stream, batch: int, length: int) -> Array:
    """One text in each sequence, of any length, and padding behind it.   (B, length)"""
    ends = chance.integers(0, length + 1, batch)
    ends = np.where(chance.random(batch) < 0.25, length, ends)
    return np.where(np.arange(length) < ends[:, None], 0, -1)


def in_a_row(chance: Stream, labels: Array, length: int, mixed: bool, padded: bool) -> Array:
    """Segments of a sequence; mixed: texts take turns. padded: at the end there may be none."""
    cuts = np.sort(chance.integers(0, length + 1, len(labels) - 1))
    x = labels[cuts.searchsorted(np.arange(length), side="right")]
    x = chance.permutation(x) if mixed else x
    return np.where(np.arange(length) < length - padded * chance.below(length // 2 + 1), x, -1)


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
