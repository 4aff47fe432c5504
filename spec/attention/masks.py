"""The kinds of mask, and the forms in which a mask is passed.

A mask first decides which keys are masked (or which numbers are added), in the full shape (B, H, N,
M) or a part of it. It then has one of the broadcast forms: an axis of length 1 stands for all of B,
H, N or M, and leading axes may be left out. Every form means the same as the mask written out.
"""

from collections.abc import Callable, Mapping

import numpy as np

from spec.formats import FORMATS, rounded
from spec.notation import Array
from spec.stream import Stream

Shape = tuple[int, int, int, int]
Kind = Callable[[Stream, str, Shape], Array]

# Broadcast forms: which of the axes B, H, N, M are written out (1); None leaves the axis out.
FORMS: Mapping[str, tuple[int | None, int | None, int | None, int | None]] = {
    "N M": (None, None, 1, 1),
    "B H N M": (1, 1, 1, 1),
    "B 1 1 M": (1, 0, 0, 1),
    "1 H N M": (0, 1, 1, 1),
    "B 1 N M": (1, 0, 1, 1),
    "1 M": (None, None, 0, 1),
    "H N M": (None, 1, 1, 1),
    "1 1 N M": (0, 0, 1, 1),
    "B H 1 M": (1, 1, 0, 1),
    "B H N 1": (1, 1, 1, 0),
}


def shaped(form: str, shape: Shape) -> tuple[int, ...]:
    """The shape of a mask of this form, for a problem of sizes (B, H, N, M)."""
    kept = zip(FORMS[form], shape, strict=True)
    return tuple(size if axis else 1 for axis, size in kept if axis is not None)


def all_true(chance: Stream, form: str, shape: Shape) -> Array:
    """Masks nothing."""
    del chance
    return np.ones(shaped(form, shape), dtype=bool)


def scattered(chance: Stream, form: str, shape: Shape) -> Array:
    """Masks random keys, but leaves every query at least one."""
    *rows, M = shaped(form, shape)
    allowed = chance.random(*rows, M) < chance.choice((0.3, 0.7, 0.95))
    if M:
        allowed |= np.arange(M) == chance.integers(0, M, (*rows, 1))
    return allowed


def padding(chance: Stream, form: str, shape: Shape) -> Array:
    """Masks the keys beyond a length that each sequence has."""
    del form
    B, _, _, M = shape
    lengths = chance.integers(min(1, M), M + 1, B)
    return np.asarray(np.arange(M) < lengths[:, None])[:, None, None, :]


def window(chance: Stream, form: str, shape: Shape) -> Array:
    """Leaves each query a band of keys around it (around the last key for later queries)."""
    del form
    _, _, N, M = shape
    left, right = chance.integers(0, 4, 2)
    distance = np.arange(M)[None, :] - np.minimum(np.arange(N), M - 1)[:, None]
    return np.asarray((-left <= distance) & (distance <= right))


def tiles(chance: Stream, form: str, shape: Shape) -> Array:
    """Masks a long run of keys, so that an implementation has fully masked tiles."""
    allowed = np.ones(shaped(form, shape), dtype=bool)
    M = allowed.shape[-1]
    first, last = (
        sorted(chance.integers(0, M + 1, 2)) if chance.random() < 0.5 else (0, M - M // 8 - 1)
    )
    allowed[..., first : min(last, first + M - 1)] = False  # one key is left
    return allowed


def tail(chance: Stream, form: str, shape: Shape) -> Array:
    """Masks the last keys, or all keys but these, which a loop over tiles reads last."""
    *rows, M = shaped(form, shape)
    first = M - chance.integers(1, chance.choice((2, 4, 32)), (*rows, 1))
    last = np.arange(M) >= np.maximum(first, min(M, 1))  # one key is left
    return last if M > 1 and chance.random() < 0.5 else np.logical_not(last)


def idle(chance: Stream, form: str, shape: Shape) -> Array:
    """Masks random keys, and every key for some queries."""
    allowed = scattered(chance, form, shape)
    rows = chance.random(*allowed.shape[:-1]) < 0.5
    allowed[rows] = False
    return allowed


def additive_slight(chance: Stream, form: str, shape: Shape) -> Array:
    """Finite numbers of about one to add to the scores; every key keeps some weight."""
    return chance.normal(*shaped(form, shape))


def additive(chance: Stream, form: str, shape: Shape) -> Array:
    """Finite numbers to add to the scores, of about one or about eight."""
    return additive_slight(chance, form, shape) * chance.choice((1.0, 8.0))


def additive_with_holes(chance: Stream, form: str, shape: Shape) -> Array:
    """Finite numbers, and -inf at masked keys."""
    return np.where(scattered(chance, form, shape), additive(chance, form, shape), -np.inf)


def additive_tail(chance: Stream, form: str, shape: Shape) -> Array:
    """Finite numbers, and -inf at the last keys, or at all keys but these."""
    return np.where(tail(chance, form, shape), additive(chance, form, shape), -np.inf)


def additive_idle(chance: Stream, form: str, shape: Shape) -> Array:
    """Zero, or -inf; some queries are fully masked."""
    return np.where(idle(chance, form, shape), 0.0, -np.inf)


def additive_large(chance: Stream, form: str, shape: Shape) -> Array:
    """Large penalties such as -1e4, which are finite and so do not mask a key."""
    return chance.choices((0.0, -32.0, -1024.0, -8192.0), *shaped(form, shape))


def named(*kinds: Kind) -> Mapping[str, Kind]:
    """Kinds of mask by their names in words."""
    return {kind.__name__.replace("_", " "): kind for kind in kinds}


BOOLEAN = named(all_true, scattered, padding, window, tiles, tail, idle)
ADDITIVE = named(
    additive, additive_slight, additive_with_holes, additive_tail, additive_idle, additive_large
)
LEAVE_QUERIES_IDLE = ("idle", "additive idle")
AT_THE_END = ("tail", "additive tail")
SLIGHT = ("additive slight",)
OF_ONE_FORM = ("padding", "window")
OF_ROWS = ("window",)  # have a row for every query, in any form
KINDS = {**BOOLEAN, **ADDITIVE}
# Kinds whose masks have the same shape and dtype, for the same form.
ALIKE: Mapping[str, frozenset[str]] = {
    **{x: frozenset(kinds) - {*OF_ONE_FORM} for kinds in (BOOLEAN, ADDITIVE) for x in kinds},
    **{x: frozenset({x}) for x in ("none", *OF_ONE_FORM)},
}


def mask(
    kind: str, form: str, seed: int, shape: Shape, dtype: str, *, causal: bool = False
) -> Array | None:
    """The mask of a kind and a form for sizes (B, H, N, M); None for the kind "none".

    With `causal`, the first query has only the first key, so no mask hides that key. Otherwise
    kinds outside LEAVE_QUERIES_IDLE would give fully masked queries.
    """
    if kind not in KINDS:
        return None
    drawn = KINDS[kind](Stream(seed, 1), form, shape)
    if causal and kind not in LEAVE_QUERIES_IDLE:
        first = drawn[..., :1]
        first[first == (False if kind in BOOLEAN else -np.inf)] = kind in BOOLEAN
    return drawn if kind in BOOLEAN else rounded(drawn, dtype)


def low(chance: Stream, N: int, M: int, dtype: str) -> tuple[Array, Array]:
    """Biases c_i or 2 c_i, all of them far below zero, and where they are c_i.   two of (N, M)

    Every query has at least one c_i. c is -2^14 or far lower, so exp(c) is negligible against 1. It
    is a power of two, so that exponentials of base 2 round c and 2 c alike.
    """
    exponents = [x for x in (14, 30, 100, 126, 1022) if x < FORMATS[dtype].highest]
    c = -(2.0 ** chance.choices(exponents, N, 1))
    least_low = chance.random(N, M) < 0.5
    least_low[:, 0] |= ~least_low.any(axis=1)
    return np.where(least_low, c, 2 * c), least_low
