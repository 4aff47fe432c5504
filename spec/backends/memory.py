"""How an array lies in memory: the same numbers behind different strides.

An implementation may assume nothing about strides, so problems say how their
arrays are to be handed over. Each way is written as a flat buffer and a view of
it (shape, strides and offset, counted in elements), which every library with
strides can build. The numbers of a buffer outside the view are poison.
"""

import math
from dataclasses import dataclass

import numpy as np

from spec.notation import Array, Memory
from spec.runner.memory import strided

KEPT = (np.dtype(bool), np.dtype(np.int32))  # truth values and whole numbers have no other format


@dataclass(frozen=True)
class Laid:
    """A flat buffer, and the view of it that holds the numbers; strides None: in C order."""

    buffer: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0

    def view(self) -> Array:
        """The numbers, as NumPy sees them."""
        return view_of(self.buffer, self)


def laid_out(x: Array, memory: Memory) -> Laid:
    """The numbers of `x` in fresh memory, float64 unless in KEPT, laid out as `memory` says."""
    if x.dtype not in KEPT:
        x = np.asarray(x, dtype=np.float64)
    if x.size == 0 or memory == "contiguous":
        return _contiguous(x)
    match memory:
        case "transposed":
            return _transposed(x)
        case "strided":
            return _inside(x, (*x.shape[:-1], 2 * x.shape[-1]), first=0, step=2)
        case "offset":
            return _inside(x, (*x.shape[:-1], x.shape[-1] + 3), first=2, step=1)
        case "expanded":
            return _expanded(x)


def buffer_of(x: Array) -> Array:
    """The array whose memory a view lies in."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def laid_alike(x: Array) -> Array:
    """A copy of an array that lies in a copy of its memory as it does."""
    whole = buffer_of(x)
    if whole.size == x.size and x.flags.c_contiguous:
        return x.copy()
    place = x.ctypes.data - whole.ctypes.data
    return np.ndarray(x.shape, x.dtype, whole.copy().data, place, x.strides)


def view_of(buffer: Array, laid: Laid) -> Array:
    """The view of `buffer`, which is that of `laid` in any dtype, that holds the numbers."""
    view: Array = strided(buffer, vars(laid))
    return view


def _contiguous(x: Array) -> Laid:
    return Laid(np.array(x, order="C").reshape(-1), x.shape)


def _transposed(x: Array) -> Laid:
    """Heads and length are swapped in memory, as after splitting a projection into heads."""
    if x.ndim < 3:
        return _contiguous(x)
    buffer = np.array(x.swapaxes(-3, -2), order="C")
    strides = list(_steps(buffer.shape))
    strides[-3], strides[-2] = strides[-2], strides[-3]
    return Laid(buffer.reshape(-1), x.shape, tuple(strides))


def _inside(x: Array, larger: tuple[int, ...], *, first: int, step: int) -> Laid:
    """Each row is every `step`-th element, from `first` on, of a longer row of poison."""
    buffer = _poison(x, larger)
    buffer[..., first : first + step * x.shape[-1] : step] = x
    strides = _steps(larger)
    return Laid(buffer.reshape(-1), x.shape, (*strides[:-1], step), first)


def _expanded(x: Array) -> Laid:
    """One copy, and stride zero, along every axis but the last two where all copies are equal."""
    kept = x
    for axis in range(x.ndim - 2):
        one = kept.take([0], axis=axis)
        if np.array_equal(_bits(kept), np.broadcast_to(_bits(one), kept.shape)):
            kept = one
    steps = zip(_steps(kept.shape), kept.shape, x.shape, strict=True)
    strides = tuple(step if had == have else 0 for step, had, have in steps)
    return Laid(np.array(kept, order="C").reshape(-1), x.shape, strides)


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array in C order, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _poison(x: Array, shape: tuple[int, ...]) -> Array:
    """What nobody may read: NaN, or for a mask the opposite of what it says; other integers."""
    if x.dtype in KEPT:
        return np.resize(~x, shape)
    return np.full(shape, np.nan)


def _bits(x: Array) -> Array:
    """The array as something that tells a signed zero from zero, and equates equal NaNs."""
    return x if x.dtype in KEPT else np.ascontiguousarray(x).view(np.int64)
