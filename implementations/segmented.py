"""Segments on top of `dense`: which tokens are of one text is written out in the mask.

    i sees j    only if    seg_i = seg_j >= 0

Time and memory grow with N M, as if the array held one text: nothing is saved by packing, and
nothing is skipped.
"""

from typing import Any

import numpy as np

from implementations import dense
from implementations.arguments import UNBOUNDED, Window
from spec.notation import Array

Options = dict[str, Any]


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    sinks: Array | None = None,
    alibi_slopes: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
) -> Array:
    """As `dense.attend`. query_segments, (B, N), and key_segments, (B, M), are integers: a key is
    seen by queries with its own, and one that is negative by nobody.

    Raises ValueError: one without the other, or of another shape; numbers that are no integers.
    """
    mask = apart(query, key, attn_mask, query_segments, key_segments)
    rest = (scale, enable_gqa, window_size, softcap, sinks, alibi_slopes)
    return dense.attend(query, key, value, mask, is_causal, *rest)


def backward(dout: Array, query: Array, key: Array, value: Array, **options: Any) -> Any:
    """The derivatives of <dout, o>, shaped like query, key and value."""
    return dense.backward(dout, query, key, value, **_written_out(query, key, options))


def sink_gradient(dout: Array, query: Array, key: Array, value: Array, **options: Any) -> Array:
    """The derivatives of <dout, o> by the sinks, in their dtype.   (H,)"""
    return dense.sink_gradient(dout, query, key, value, **_written_out(query, key, options))


def slope_gradient(dout: Array, query: Array, key: Array, value: Array, **options: Any) -> Array:
    """The derivatives of <dout, o> by the slopes, in their dtype.   (H,) or (B, H)"""
    return dense.slope_gradient(dout, query, key, value, **_written_out(query, key, options))


def weights(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    return dense.weights(query, key, value, **_written_out(query, key, options))


def lse(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)), -inf for an idle query, as accumulated.   (B, H, N)"""
    return dense.lse(query, key, value, **_written_out(query, key, options))


def _written_out(query: Array, key: Array, options: Options) -> Options:
    """The options of `dense`: those that are given, segments being a part of the mask."""
    names = ("attn_mask", "query_segments", "key_segments")
    given = [options.get(name) for name in names]
    rest = {name: x for name, x in options.items() if name not in names}
    return {**rest, "attn_mask": apart(query, key, *given)}


def apart(
    query: Array, key: Array, attn_mask: Array | None, mine: Array | None, theirs: Array | None
) -> Array | None:
    """The mask with what is of another text hidden: False, or -inf where numbers are added."""
    if mine is None and theirs is None:
        return attn_mask
    if mine is None or theirs is None:
        raise ValueError("segments are given of queries and keys, or of neither")
    for x, tokens in ((mine, query), (theirs, key)):
        if x.shape != (tokens.shape[0], tokens.shape[2]) or x.dtype.kind not in "iu":
            raise ValueError(f"segments are integers, (B, length), not {x.dtype} {x.shape}")
    mine, theirs = mine[:, None, :, None], theirs[:, None, None, :]
    together = (mine == theirs) & (theirs >= 0)
    if attn_mask is None:
        return together
    if attn_mask.dtype == bool:
        return together & attn_mask
    return np.where(together, attn_mask, attn_mask.dtype.type(-np.inf))


vars(attend).update(backward=backward, sink_gradient=sink_gradient, slope_gradient=slope_gradient)
vars(attend).update(weights=weights, lse=lse)
