"""Ring attention: tokens are distributed over ranks, which pass their keys round (`ring_rank`).

    contiguous    each rank has consecutive tokens
    zig-zag       rank r of R has parts r and 2R - 1 - r of 2R, which balances causal work
    striped       rank r of R has every R-th token

Lengths need not be divisible by the number of ranks. `attend` uses two ranks; `over` makes others.
The first call starts the processes, which then stay. If a rank dies, the call raises an exception.
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

Spread = list[Array]  # the tokens of each rank


def _folded(parts: list[Array]) -> Spread:
    return [np.concatenate([parts[r], parts[-1 - r]]) for r in range(len(parts) // 2)]


SHARDINGS: Mapping[str, Callable[[int, int], Spread]] = {
    "contiguous": lambda length, ranks: np.array_split(np.arange(length), ranks),
    "zig-zag": lambda length, ranks: _folded(np.array_split(np.arange(length), 2 * ranks)),
    "striped": lambda length, ranks: [np.arange(rank, length, ranks) for rank in range(ranks)],
}


def spreading(sharding: str) -> Callable[[int, int], Spread]:
    """Return the function for a way to distribute tokens. Raises ValueError for an unknown name."""
    if sharding not in SHARDINGS:
        raise ValueError(f"tokens are spread {', '.join(SHARDINGS)}, not {sharding}")
    return SHARDINGS[sharding]


@dataclass(frozen=True)
class Ring:
    """Ranks, and the function that distributes a number of tokens over them."""

    pool: Ranks
    spread: Callable[[int, int], Spread]

    def output(self, query: Array, key: Array, value: Array, **options: Any) -> Array:
        """Return o, in the dtype of the queries.   (B, H, N, E)"""
        o, _, _ = self._forward(query, key, value, **options)
        return rounded(o, query.dtype)

    def lse(self, query: Array, key: Array, value: Array, **options: Any) -> Array:
        """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if masked.   (B, H, N)"""
        _, m, t = self._forward(query, key, value, **options)
        with np.errstate(divide="ignore"):
            return np.asarray(reference(m) + np.log(t))

    def backward(
        self, dout: Array, query: Array, key: Array, value: Array, **options: Any
    ) -> tuple[Array, ...]:
        """Return the gradients of <dout, o> with respect to query, key and value."""
        found = self._backward(dout, query, key, value, **options)
        return tuple(rounded(x, query.dtype) for x in found[:3])

    def sink_gradient(self, *arrays: Array, sinks: Array, **options: Any) -> Array:
        """Return the gradient of <dout, o> with respect to the sinks, in their dtype.   (H,)"""
        return rounded(self._backward(*arrays, sinks=sinks, **options)[3], sinks.dtype)

    def slope_gradient(self, *arrays: Array, alibi_slopes: Array, **options: Any) -> Array:
        """Return the gradient of <dout, o> for the slopes, in their dtype.   (H,) or (B, H)"""
        found = self._backward(*arrays, alibi_slopes=alibi_slopes, **options)
        return by_slopes(found[4], alibi_slopes)

    def _spread(self, length: int) -> Spread:
        return self.spread(length, self.pool.ranks)

    def _forward(self, query: Array, key: Array, value: Array, **options: Any) -> list[Array]:
        """Return the output, the largest score and the sum of exponentials of all queries."""
        rows, cols = self._spread(query.shape[2]), self._spread(key.shape[2])
        given = handed(rows, cols, query, key, value, **options)
        answers = self.pool.asked("implementations.ring_rank:forward", given)
        return [gathered([x[n] for x in answers], rows) for n in range(3)]

    def _backward(
        self, dout: Array, query: Array, key: Array, value: Array, **options: Any
    ) -> list[Array]:
        """Return dq, dk, dv, the sink gradient (H,), and the sums that slopes multiply (B, H)."""
        rows, cols = self._spread(query.shape[2]), self._spread(key.shape[2])
        given = handed(rows, cols, query, key, value, **options)
        with_dout = [(dout[:, :, own], *x) for own, x in zip(rows, given, strict=True)]
        answers = self.pool.asked("implementations.ring_rank:backward", with_dout)
        homes = enumerate((rows, cols, cols))
        found = [gathered([x[n] for x in answers], own) for n, own in homes]
        return [*found, *(np.sum([x[n] for x in answers], axis=0) for n in (3, 4))]


def over(ranks: int, sharding: str) -> Callable[..., Any]:
    """Return attention over a number of ranks, with the given distribution of tokens.

    Its gradients are attributes, and `pool` has the processes. Raises ValueError for an unknown
    name.
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
        """Return the output of `dense.attend`, without masks. RuntimeError: a rank has died."""
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
    """Return the queries and keys for each rank. Raises ValueError for bad arguments."""
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
    scale: float | None = None,  # noqa: ARG001 - every scale is valid
) -> None:
    """Raise ValueError for bad options, before any rank gets them."""
    sight(is_causal, window_size)
    capped(q[:0], softcap)
    sunk(sinks, q.shape[1], q.dtype)
    steep(alibi_slopes, q.shape, q.dtype)


def gathered(parts: list[Array], tokens: Spread, axis: int = 2) -> Array:
    """Return the parts of all ranks as one array, with each token at its position."""
    order = np.argsort(np.concatenate(tokens))
    return np.concatenate(parts, axis=axis).take(order, axis=axis)


attend = over(2, "contiguous")
