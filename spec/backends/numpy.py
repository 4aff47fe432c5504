"""NumPy: float64, float32 and float16 on the CPU; gradients only where they are given."""

from functools import cache
from typing import Any

import numpy as np

from spec.backends.library import Library, Unsuitable
from spec.backends.memory import KEPT, Laid, buffer_of, view_of
from spec.notation import Array
from spec.runner.memory import FLOATS


def library(device: str) -> Library:
    """NumPy. Raises Unsuitable for a device other than the CPU."""
    if device != "cpu":
        raise Unsuitable(f"the NumPy backend has no device {device!r}")
    return Library(
        name="numpy",
        device="cpu",
        dtypes=tuple(FLOATS),
        put=put,
        integers=lambda x: x.astype(np.int64),
        format=np.dtype,
        get=lambda x: np.array(x, dtype=np.float64),
        dtype_of=lambda x: _name(x.dtype) if type(x) is np.ndarray else None,
        device_of=lambda _: "cpu",
        running=lambda _: np.errstate(all="ignore"),
        differentiate=None,
        recorded=None,
        copied=np.copy,
        same=lambda x, y: x.tobytes() == y.tobytes(),
        overlap=np.may_share_memory,
        laid=laid,
        array=np.ndarray,
    )


def put(laid: Laid, dtype: str) -> tuple[Array, Array]:
    """The buffer in `dtype` (truth values and integers stay so), and the view of it."""
    buffer = laid.buffer
    if buffer.dtype not in KEPT:
        buffer = buffer.astype(dtype, copy=False)
    return buffer, view_of(buffer, laid)


def laid(x: Array) -> Laid | None:
    """How an array lies in the memory of the array that it is a view of; None if that is whole."""
    if type(x) is not np.ndarray:
        return None
    whole = buffer_of(x)
    if whole.dtype != x.dtype or (whole.size == x.size and x.flags.c_contiguous):
        return None
    steps = tuple(step // x.itemsize for step in x.strides)
    offset = (x.ctypes.data - whole.ctypes.data) // x.itemsize
    return Laid(whole.reshape(-1), x.shape, steps, offset)


@cache
def _name(dtype: np.dtype[Any]) -> str:
    """Its name, which NumPy makes up anew each time."""
    return str(dtype)
