"""JAX in this process: four dtypes and gradients by vjp.

float64 needs JAX's 64-bit mode, which is switched on around each float64 call
and left as it was; an implementation that falls back to float32 is reported.
JAX arrays have no strides, so `Problem.memory` makes no difference here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spec.backends.library import Library, Unsuitable
from spec.backends.memory import Laid
from spec.notation import DTYPES, Array
from spec.runner import errors
from spec.runner.arrays import for_jax

FORMATS = {name: getattr(jnp, name) for name in DTYPES}


def library(device: str) -> Library:
    """JAX on `device`. Raises Unsuitable where there is no such device."""
    try:
        arrays = for_jax.library(device)
    except errors.Absent as reason:
        raise Unsuitable(str(reason)) from None
    return Library(
        name="jax",
        device=arrays.place.platform,
        dtypes=DTYPES,
        put=lambda laid, dtype: put(laid, dtype, arrays.place),
        integers=lambda x: jax.device_put(x.astype(np.int64), arrays.place),
        format=FORMATS.__getitem__,
        get=get,
        dtype_of=lambda x: (
            str(x.dtype) if type(x) is arrays.array or isinstance(x, jax.core.Tracer) else None
        ),
        device_of=lambda x: str(next(iter(x.devices())).platform),
        running=arrays.running,
        differentiate=differentiate,
        recorded=lambda function, inputs: jax.vjp(function, *inputs)[0],
        copied=np.array,
        same=lambda x, y: np.asarray(x).tobytes() == y.tobytes(),
        overlap=lambda x, y: False,  # noqa: ARG005 - JAX arrays are immutable
        compilers={way: partial(compiled, arrays, way=way) for way in arrays.ways},
        array=arrays.array,
    )


def put(laid: Laid, dtype: str, device: Any) -> tuple[Any, Any]:
    """The numbers on the device in `dtype` (truth values and integers stay so), twice."""
    numbers = laid.view()
    if numbers.dtype.kind == "f":
        numbers = numbers.astype(FORMATS[dtype])
    array = jax.device_put(numbers, device)
    return array, array


def get(x: Any) -> Array:
    """The numbers of an array, in memory of their own. Raises TypeError: a tracer has none."""
    if isinstance(x, jax.core.Tracer):
        raise TypeError("a tracer has no numbers")
    return np.array(np.asarray(x), dtype=np.float64)


def differentiate(function: Callable[..., Any], arrays: Sequence[Any], dout: Any) -> Sequence[Any]:
    """The gradient of <dout, function(arrays)> by each array."""
    _, pull = jax.vjp(function, *arrays)
    found: Sequence[Any] = pull(dout)
    return found


def compiled(arrays: for_jax.Jax, program: Any, way: str) -> Any:
    """A function under jax.jit, what is no array static. Raises Unsuitable: a class."""
    try:
        return arrays.compiled(program, way)
    except errors.Absent as reason:
        raise Unsuitable(str(reason)) from None
