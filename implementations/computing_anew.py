"""A cache around any attention function: it stores all inputs and computes each output again.

The attention function gets the keys so far and the chunk, in one of four ways:

    corner    causal, if the causal diagonal is aligned bottom-right
    mask      with the mask j <= m + i
    square    causal with any alignment, with all queries so far; only the last rows of the output
              are used
    token     one query at a time, with all keys so far and no mask

All four are laws of section C (C5, C13, C1, C12). So a program with certified attention can be
given a cache, and this cache can be certified. Causality with top-left alignment, for a chunk with
a past, is none of the four.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from spec.attention.contents import Corner
from spec.attention.notation import Problem as Attention
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.cache import record
from spec.cache.notation import Chunk, Problem, Text
from spec.cache.reading import alone
from spec.cache.record import KINDS, Cache, State
from spec.notation import Array

Way = Literal["corner", "mask", "square", "token"]
Asked = Callable[[Implementation, Attention, int], Array]


def cache_of(attention: Implementation, way: Way | None = None) -> Cache:
    """Return a cache around an attention function, by default in the first way that it supports."""
    asked = WAYS[way or first_way(attention)]

    def extend(state: State, chunk: Chunk) -> tuple[Array, State]:
        o = np.zeros((*chunk.q.shape[:3], chunk.v.shape[-1]), np.longdouble)
        kept = []
        for b, before in enumerate(state.kept):
            n = int(chunk.counts[b])
            new = (x[b : b + 1, :, :n] for x in chunk[:3])
            after = Text(*(np.concatenate(pair, axis=2) for pair in zip(before, new, strict=True)))
            kept.append(after)
            if n:
                o[b, :, :n] = asked(attention, _problem(after, state.problem), n)[0]
        return o, State(state.problem, tuple(kept))

    return Cache(
        name=f"{attention.name} with a cache",
        begin=_begin,
        extend=extend,
        rollback=_rollback,
        fork=lambda state: state,
        persistent=True,
        answers=attention.answers & KINDS - {record.Capability.WINDOW} | {record.Capability.RAGGED},
        dtypes=attention.dtypes,
    )


def first_way(attention: Implementation) -> Way:
    """Return the way that needs the fewest capabilities of an attention function."""
    answers = attention.answers
    if Capability.CAUSAL in answers and attention.chosen["causal"] == "bottom-right":
        return "corner"
    if Capability.MASK in answers:
        return "mask"
    return "square" if Capability.CAUSAL in answers else "token"


def _begin(problem: Problem) -> State:
    nothing = (Text(*(x[:, :, :0] for x in alone(problem, b).text)) for b in range(problem.B))
    return State(problem, tuple(nothing))


def _rollback(state: State, lengths: Array) -> State:
    pairs = zip(state.kept, lengths, strict=True)
    kept = tuple(Text(*(x[:, :, :length] for x in text)) for text, length in pairs)
    return State(state.problem, kept)


def _problem(text: Text, asked: Problem) -> Attention:
    """Return everything that one sequence has read, as an attention problem without a mask."""
    none = np.zeros((*text.q.shape[:3], text.v.shape[-1]))
    return Attention(*text, none, dtype=asked.dtype, rounding=asked.rounding)


def _last(whole: Attention, n: int) -> Attention:
    """Return the same problem with the last n queries only."""
    return whole.but(q=whole.q[:, :, -n:], dout=whole.dout[:, :, -n:])


def _by_corner(attention: Implementation, whole: Attention, n: int) -> Array:
    corner: Corner = attention.chosen["causal"]  # type: ignore[assignment]
    return attention.forward(_last(whole, n).but(causal=True, corner=corner))


def _by_mask(attention: Implementation, whole: Attention, n: int) -> Array:
    own = np.arange(whole.M)[-n:, None]
    return attention.forward(_last(whole, n).but(mask=np.arange(whole.M) <= own))


def _by_square(attention: Implementation, whole: Attention, n: int) -> Array:
    corner: Corner = attention.chosen["causal"]  # type: ignore[assignment]
    return attention.forward(whole.but(causal=True, corner=corner))[:, :, -n:]


def _by_token(attention: Implementation, whole: Attention, n: int) -> Array:
    rows = []
    for t in range(whole.M - n, whole.M):
        row = whole.but(q=whole.q[:, :, t : t + 1], dout=whole.dout[:, :, t : t + 1])
        rows.append(attention.forward(row.but(k=whole.k[:, :, : t + 1], v=whole.v[:, :, : t + 1])))
    return np.concatenate(rows, axis=2)


WAYS: Mapping[Way, Asked] = {
    "corner": _by_corner,
    "mask": _by_mask,
    "square": _by_square,
    "token": _by_token,
}
