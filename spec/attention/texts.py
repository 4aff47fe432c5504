"""How sequences are packed into arrays: the segments of queries and of keys.

Usually sequences follow one another, each of any length in both arrays, so that some have no keys,
some have no queries, and some are absent. Sometimes labels are not consecutive numbers, the tokens
of several sequences alternate, or padding fills the end.
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

MOST = 4  # sequences in a batch element
LABELS = (3, 0, 7, 16, 19, 256, 259)  # in any order; some are equal in their last bits


def several(problem: Problem) -> bool:
    """Whether there are segments that the length of one leading sequence does not describe."""
    return problem.query_segments is not None and lengths(problem) is None


def apart(problem: Problem) -> bool:
    """Whether there are segments, and those of keys differ from those of queries."""
    mine, theirs = problem.query_segments, problem.key_segments
    return mine is not None and not np.array_equal(mine, np.asarray(theirs))


def lengths(problem: Problem) -> tuple[Array, Array] | None:
    """The numbers of queries and keys in the only sequence of each batch element, before padding.

    None if a length does not describe the segments.   two of (B,)
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
    """The number of queries before the padding, (B,).

    Raises Refused if a length does not describe the segments.
    """
    return _told(problem)[0]


def of_keys(_: Array, problem: Problem) -> Array:
    """The number of keys before the padding, (B,).

    Raises Refused if a length does not describe the segments.
    """
    return _told(problem)[1]


def _told(problem: Problem) -> tuple[Array, Array]:
    found = lengths(problem)
    if found is None:
        raise Refused("a length describes one sequence followed by padding, and not these segments")
    return found[0].astype(np.int32), found[1].astype(np.int32)


def alike(segments: Array, problem: Problem) -> Array:
    """One array of segments for queries and keys.

    Raises Refused if the segments of queries and of keys differ.
    """
    if apart(problem):
        raise Refused("one array of segments cannot describe keys that differ from queries")
    return segments.astype(np.int32)


BOTH = "segment_ids"  # one argument for both
LENGTHS = ("query_seq_lengths", "key_value_seq_lengths")
# Other arguments for segments of queries and of keys, and the values that they get.
TOLD: tuple[Mapping[str, Callable[[Array, Problem], Array]], ...] = (
    {LENGTHS[0]: of_queries, BOTH: alike},
    {LENGTHS[1]: of_keys},
)


def drawn(
    seed: int, batch: int, queries: int, keys: int, *, many: bool = True, others: bool = True
) -> tuple[Array, Array]:
    """Segments (B, N) and (B, M); those of keys often equal those of queries if N = M.

    many: of several sequences, not of one followed by padding. others: those of keys may differ
    from those of queries; if not, N = M.
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
    """One sequence in each batch element, of any length, and padding after it.   (B, length)"""
    ends = chance.integers(0, length + 1, batch)
    ends = np.where(chance.random(batch) < 0.25, length, ends)
    return np.where(np.arange(length) < ends[:, None], 0, -1)


def in_a_row(chance: Stream, labels: Array, length: int, mixed: bool, padded: bool) -> Array:
    """Segments of a batch element. mixed: in random order. padded: some padding at the end."""
    cuts = np.sort(chance.integers(0, length + 1, len(labels) - 1))
    x = labels[cuts.searchsorted(np.arange(length), side="right")]
    x = chance.permutation(x) if mixed else x
    return np.where(np.arange(length) < length - padded * chance.below(length // 2 + 1), x, -1)


class Text(NamedTuple):
    """The batch element of a sequence, and the rows there of its queries and of its keys."""

    sequence: int
    q: Array
    k: Array


def of(problem: Problem) -> list[Text]:
    """All sequences of a problem, including those without keys or without queries, and padding."""
    given = problem.query_segments, problem.key_segments
    whole = (np.zeros((problem.B, length), int) for length in (problem.N, problem.M))
    both = [zeros if x is None else x for x, zeros in zip(given, whole, strict=True)]
    found = [(b, own) for b, rows in enumerate(zip(*both, strict=True)) for own in _texts(*rows)]
    return [Text(b, *map(np.flatnonzero, own)) for b, own in found]


def _texts(queries: Array, keys: Array) -> Iterator[tuple[Array, Array]]:
    """For each sequence of a batch element, and padding, which queries and keys belong to it."""
    nobody = np.zeros(len(queries), bool), np.zeros(len(keys), bool)
    if (queries < 0).any():
        yield queries < 0, nobody[1]
    if (keys < 0).any():
        yield nobody[0], keys < 0
    for text in np.union1d(queries, keys):
        if text >= 0:
            yield queries == text, keys == text


def added(problem: Problem) -> int:
    """The number of new keys in each sequence, at most the length of the shortest."""
    if not problem.added:
        return 0
    return min(problem.added, min((len(text.k) for text in of(problem)), default=0))
