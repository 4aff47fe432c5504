"""A ring: the tokens of a text are spread over ranks, whose keys go round (`ring_rank`).

    contiguous    each rank has tokens that follow each other
    zig-zag       the first and the last of twice as many parts, so that causal work is even
    striped       every so many-th token

Lengths need not be divisible by the ranks. `attend` has two of them; `over` makes others, which are
started by the first call, and stay. A rank that dies is an error of the call, and no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from implementations.arguments import (
    UNBOUNDED,
    Window,
    accumulator,
    capped,
    group,
    labelled,
    laid_out,
    places,
    reference,
    rounded,
    sight,
    steep,
    sunk,
)
from implementations.ranks import Ranks
from implementations.ring_rank import Keys, Queries
from implementations.summed import by_slopes
from spec.notation import Array

Spread = list[Array]  # which tokens each rank has


def _folded(parts: list[Array]) -> Spread:
    return [np.concatenate([parts[r], parts[-1 - r]]) for r in range(len(parts) // 2)]


SHARDINGS: Mapping[str, Callable[[int, int], Spread]] = {
    "contiguous": lambda length, ranks: np.array_split(np.arange(length), ranks),
    "zig-zag": lambda length, ranks: _folded(np.array_split(np.arange(length), 2 * ranks)),
    "striped": lambda length, ranks: [np.arange(rank, length, ranks) for rank in range(ranks)],
}


def spreading(sharding: str) -> Callable[[int, int], Spread]:
    """Which tokens each rank has, of so many, for so many. Raises ValueError: no such way."""
    if sharding not in SHARDINGS:
        raise ValueError(f"tokens are spread {', '.join(SHARDINGS)}, not {sharding}")
    return SHARDINGS[sharding]


@dataclass(frozen=True)
class Ring:
    """Ranks, and which tokens each of them has, of so many, for so many."""

    pool: Ranks
    spread: Callable[[int, int], Spread]

    def output(self, query: Array, key: Array, value: Array, **options: Any) -> Array:
        """o, in the format of the queries.   (B, H, N, E)"""
        o, _, _ = self._forward(query, key, value, **options)
        return rounded(o, query.dtype)

    def lse(self, query: Array, key: Array, value: Array, **options: Any) -> Array:
        """log (exp(t_h) + sum_j exp(s_ij)), -inf for an idle query, as accumulated.   (B, H, N)"""
        _, m, t = self._forward(query, key, value, **options)
        with np.errstate(divide="ignore"):
            return np.asarray(reference(m) + np.log(t))

    def backward(
        self, dout: Array, query: Array, key: Array, value: Array, **options: Any
    ) -> tuple[Array, ...]:
        """The derivatives of <dout, o>, shaped like query, key and value."""
        found = self._backward(dout, query, key, value, **options)
        return tuple(rounded(x, query.dtype) for x in found[:3])

    def sink_gradient(self, *arrays: Array, sinks: Array, **options: Any) -> Array:
        """The derivatives of <dout, o> by the sinks, in their dtype.   (H,)"""
        return rounded(self._backward(*arrays, sinks=sinks, **options)[3], sinks.dtype)

    def slope_gradient(self, *arrays: Array, alibi_slopes: Array, **options: Any) -> Array:
        """The derivatives of <dout, o> by the slopes, in their dtype.   (H,) or (B, H)"""
        found = self._backward(*arrays, alibi_slopes=alibi_slopes, **options)
        return by_slopes(found[4], alibi_slopes)

    def _spread(self, length: int) -> Spread:
        return self.spread(length, self.pool.ranks)

    def _forward(self, query: Array, key: Array, value: Array, **options: Any) -> list[Array]:
        """The output, the largest score and the sum of exponentials of all queries."""
        rows, cols = self._spread(query.shape[2]), self._spread(key.shape[2])
        given = handed(rows, cols, query, key, value, **options)
        answers = self.pool.asked("implementations.ring_rank:forward", given)
        return [gathered([x[n] for x in answers], rows) for n in range(3)]

    def _backward(
        self, dout: Array, query: Array, key: Array, value: Array, **options: Any
    ) -> list[Array]:
        """dq, dk, dv, and the derivatives by sinks (H,) and by what slopes multiply (B, H)."""
        rows, cols = self._spread(query.shape[2]), self._spread(key.shape[2])
        given = handed(rows, cols, query, key, value, **options)
        with_dout = [(dout[:, :, own], *x) for own, x in zip(rows, given, strict=True)]
        answers = self.pool.asked("implementations.ring_rank:backward", with_dout)
        homes = enumerate((rows, cols, cols))
        found = [gathered([x[n] for x in answers], own) for n, own in homes]
        return [*found, *(np.sum([x[n] for x in answers], axis=0) for n in (3, 4))]


def over(ranks: int, sharding: str) -> Callable[..., Any]:
    """Attention over so many ranks, tokens being spread in that way, with its derivatives.

    Its attribute `pool` has the processes. Raises ValueError: there is no such way.
    """
    ring = Ring(Ranks(ranks), spreading(sharding))

    def attend(
        query: Array,
        key: Array,
        value: Array,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        window_size: Window = UNBOUNDED,
        softcap: float | None = None,
        sinks: Array | None = None,
        alibi_slopes: Array | None = None,
        query_segments: Array | None = None,
        key_segments: Array | None = None,
        query_positions: Array | None = None,
        key_positions: Array | None = None,
    ) -> Array:
        """As `dense.attend` has it, but for masks. Raises RuntimeError: a rank has died."""
        options: dict[str, Any] = {"is_causal": is_causal, "window_size": window_size}
        options |= {"scale": scale, "softcap": softcap, "alibi_slopes": alibi_slopes}
        options |= {"query_segments": query_segments, "key_segments": key_segments}
        options |= {"query_positions": query_positions, "key_positions": key_positions}
        return ring.output(query, key, value, enable_gqa=enable_gqa, sinks=sinks, **options)

    vars(attend).update(backward=ring.backward, lse=ring.lse, pool=ring.pool)
    vars(attend).update(sink_gradient=ring.sink_gradient, slope_gradient=ring.slope_gradient)
    return attend


def handed(
    rows: Spread,
    cols: Spread,
    query: Array,
    key: Array,
    value: Array,
    enable_gqa: bool = False,
    sinks: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
    **options: Any,
) -> list[tuple[Queries, Keys]]:
    """What is handed to each rank, of queries and keys that are its. Raises ValueError."""
    (B, H, N, _), M = query.shape, key.shape[2]
    group(H, key.shape[1], enable_gqa)
    q, texts = laid_out(query, accumulator(query.dtype)), (query_segments, key_segments)
    checked(q, sinks, **options)
    labelled(*texts, (B, N, M))
    at = zip(places(query, key, query_positions, key_positions), (N, M), strict=True)
    rows_at = ((x.reshape(len(x) if x.ndim == 4 else 1, length), length) for x, length in at)
    p, r = (np.broadcast_to(x, (B, length)) for x, length in rows_at)
    said, found = {"scale": None, **options}, []
    for mine, theirs in zip(rows, cols, strict=True):
        own = [None if x is None else x[:, y] for x, y in zip(texts, (mine, theirs), strict=True)]
        queries = Queries(q[:, :, mine], p[:, mine], own[0], sinks, said)
        keys = Keys(key[:, :, theirs], value[:, :, theirs], r[:, theirs], own[1])
        found.append((queries, keys))
    return found


def checked(
    q: Array,
    sinks: Array | None,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    alibi_slopes: Array | None = None,
    scale: float | None = None,  # noqa: ARG001 - there is no bad one
) -> None:
    """Raises ValueError: what nobody can be asked, before it is asked of others."""
    sight(is_causal, window_size)
    capped(q[:0], softcap)
    sunk(sinks, q.shape[1], q.dtype)
    steep(alibi_slopes, q.shape, q.dtype)


def gathered(parts: list[Array], tokens: Spread, axis: int = 2) -> Array:
    """The parts of all ranks as one array, each token at its place."""
    order = np.argsort(np.concatenate(tokens))
    return np.concatenate(parts, axis=axis).take(order, axis=axis)


attend = over(2, "contiguous")
