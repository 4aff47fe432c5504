"""Invalid problems: each raises an exception, in a line that says what is valid instead."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spec.attention.contents import Options
from spec.notation import Array

Shapes = Mapping[str, tuple[int, int]]  # of queries and of keys
OF_32_BITS = range(-(2**31), 2**31)
NEAR = range(-(2**30), 2**30 + 1)  # so that 32 bits hold what two of them differ by


def refuse(asked: Options, *, B: int, H: int, N: int, M: int) -> None:
    """Raise ValueError for an option that is none, in a problem of these lengths."""
    window, first, softcap = asked.window, asked.first, asked.softcap
    if not is_window(window):
        told = "(left, right), each a number of keys or None for no bound"
        raise ValueError(f"a window is {told}, not {window!r}")
    if not (isinstance(first, int | np.integer) and first >= 0):
        raise ValueError(f"first keys are a number of keys from 0 up, not {first!r}")
    if softcap is not None and not 0 < softcap < np.inf:
        raise ValueError(f"a cap is positive and finite, or None, not {softcap!r}")
    if asked.sinks is not None and not are_sinks(asked.sinks, H):
        raise ValueError(f"sinks are a number below inf for each of {H} heads")
    if asked.slopes is not None and not are_slopes(asked.slopes, (H,), (B, H)):
        raise ValueError(f"slopes are finite numbers of the shape {(H,)} or {(B, H)}")
    shapes = {"queries": (B, N), "keys": (B, M)}
    _refuse_positions(asked.query_positions, asked.key_positions, shapes)
    _refuse_segments(asked.query_segments, asked.key_segments, shapes)


def refuse_arrays(q: Array, k: Array, v: Array, mask: Array | None) -> None:
    """Raise ValueError unless the shapes of arrays that a person gives go together."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim != 4:
            raise ValueError(f"{name} is (batch, heads, length, width), not of the shape {x.shape}")
    (B, H, N, D), (G, M) = q.shape, k.shape[1:3]
    shared = H % G == 0 if G else H == 0
    if k.shape != (B, G, M, D) or v.shape[:3] != (B, G, M) or not shared:
        told = "(B, H, N, D), (B, G, M, D) and (B, G, M, E), with H a multiple of G"
        raise ValueError(f"the shapes {q.shape}, {k.shape} and {v.shape} are not {told}")
    if mask is not None and not _broadcasts(mask.shape, (B, H, N, M)):
        raise ValueError(f"a mask broadcasts to {(B, H, N, M)}, and {mask.shape} does not")


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of a shape stands for one of another, as NumPy has it."""
    kept = (1,) * (len(whole) - len(shape)) + shape
    return len(kept) == len(whole) and all(x in (1, y) for x, y in zip(kept, whole, strict=True))


def _refuse_positions(queries: Array | None, keys: Array | None, shapes: Shapes) -> None:
    """Raise ValueError unless what is given has one for each token."""
    for whose, x in (("queries", queries), ("keys", keys)):
        if x is not None and not are_whole(x, shapes[whose], NEAR):
            told = f"integers from -2^30 to 2^30, of the shape {shapes[whose]}"
            raise ValueError(f"positions of {whose} are {told}")


def _refuse_segments(queries: Array | None, keys: Array | None, shapes: Shapes) -> None:
    """Raise ValueError unless they are of the queries and of the keys."""
    given = {"queries": queries, "keys": keys}
    without = [whose for whose, x in given.items() if x is None]
    if len(without) == 1:
        raise ValueError(f"segments are given of queries and keys, or of neither: no {without[0]}")
    for whose, x in given.items():
        if x is not None and not are_whole(x, shapes[whose], OF_32_BITS):
            told = f"integers of 32 bits, of the shape {shapes[whose]}"
            raise ValueError(f"segments of {whose} are {told}")


def is_window(x: Any) -> bool:
    """Whether it is two bounds, each an integer of at least 0 or None."""
    bounds = x if isinstance(x, tuple | list) and len(x) == 2 else (-1, -1)
    return all(b is None or (isinstance(b, int | np.integer) and b >= 0) for b in bounds)


def are_sinks(x: Array, heads: int) -> bool:
    """Whether there is one for each head, finite or -inf."""
    return x.shape == (heads,) and bool((x < np.inf).all())


def are_slopes(x: Array, *shapes: tuple[int, ...]) -> bool:
    """Whether they are finite, and of one of these shapes."""
    return x.shape in shapes and bool(np.isfinite(x).all())


def are_whole(x: Array, shape: tuple[int, ...], among: range) -> bool:
    """Whether they are integers of this shape, each of them one of those."""
    whole = x.dtype.kind in "iu" and x.shape == shape
    return whole and bool(((x >= among.start) & (x < among.stop)).all())
