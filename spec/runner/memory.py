"""The block of memory that a judge and a runner share, and arrays in it.

An array of the judge is a flat buffer in the block, and a view of it (shape, strides and offset in
elements), so that any layout in memory can be asked for. An answer is copied into the second half
of the block, whose first byte both sides call `ROOM`.
"""

import mmap
from collections.abc import Mapping
from typing import Any

import numpy as np

SIZE = 1 << 30  # bytes, of which only those that are used take memory
ROOM = SIZE // 2
ALIGNED = 64  # bytes
BFLOAT16 = "bfloat16"  # which NumPy does not have: its bits, with the name beside them
WHOLE: Mapping[str, np.dtype[Any]] = {
    "bool": np.dtype(bool),
    "int32": np.dtype(np.int32),
    "int64": np.dtype(np.int64),
}
FLOATS: Mapping[str, np.dtype[Any]] = {
    "float64": np.dtype("f8"),
    "float32": np.dtype("f4"),
    "float16": np.dtype("f2"),
}
FORMATS: Mapping[str, np.dtype[Any]] = {
    **FLOATS,
    BFLOAT16: np.dtype("u2", metadata={"name": BFLOAT16}),
    **WHOLE,
}  # as NumPy holds them


def name_of_format(dtype: np.dtype[Any]) -> str:
    """The name of a format, also of the one that NumPy does not have."""
    told: Mapping[Any, Any] = dtype.metadata or {}
    return str(told.get("name", dtype))


def aligned(size: int) -> int:
    """The bytes that an array of so many takes in the block."""
    return size + -size % ALIGNED


def mapped(handle: int) -> mmap.mmap:
    """The block behind a handle."""
    return mmap.mmap(handle, SIZE)


def flat(block: mmap.mmap, told: Mapping[str, Any]) -> Any:
    """The buffer of an array, as NumPy sees it."""
    return np.frombuffer(block, FORMATS[told["dtype"]], told["count"], told["at"])


def strided(buffer: Any, told: Mapping[str, Any]) -> Any:
    """The view of a buffer of NumPy that holds the numbers of an array."""
    if told["strides"] is None:
        return buffer.reshape(told["shape"])
    size = buffer.itemsize
    strides = [size * step for step in told["strides"]]
    offset = told["offset"] * size
    return np.ndarray(told["shape"], buffer.dtype, buffer.data, offset, strides)
