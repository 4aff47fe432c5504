"""JAX: four dtypes and gradients by vjp.

float64 needs JAX's 64-bit mode, which is switched on around each float64 call
and left as it was; an implementation that falls back to float32 is reported.
JAX arrays have no strides, so `Problem.memory` makes no difference here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spec.runner.compiled import listen
from spec.backends.compiling import TRACED
from spec.backends.library import Library, Unsuitable, first_line
from spec.backends.memory import Laid
from spec.notation import DTYPES, Array

listen(jax.monitoring)

FORMATS = {name: getattr(jnp, name) for name in DTYPES}


def library(device: str) -> Library:
    """JAX on `device`. Raises Unsuitable where there is no such device."""
    try:
        place = jax.devices("gpu" if device.startswith("cuda") else device)[0]
    except RuntimeError as error:
        raise Unsuitable(f"JAX has no device {device!r} here: {first_line(error)}") from None
    array = type(jax.device_put(np.zeros(()), place))
    return Library(
        name="jax",
        device=place.platform,
        dtypes=DTYPES,
        put=lambda laid, dtype: put(laid, dtype, place),
        integers=lambda x: jax.device_put(x.astype(np.int64), place),
        format=FORMATS.__getitem__,
        get=get,
        dtype_of=lambda x: (
            str(x.dtype) if type(x) is array or isinstance(x, jax.core.Tracer) else None
        ),
        device_of=lambda x: str(next(iter(x.devices())).platform),
        running=running,
        differentiate=differentiate,
        recorded=lambda function, arrays: jax.vjp(function, *arrays)[0],
        copied=np.array,
        same=lambda x, y: np.asarray(x).tobytes() == y.tobytes(),
        overlap=lambda x, y: False,  # noqa: ARG005 - JAX arrays are immutable
        compilers={way: partial(compiler, data=(jax.Array, *x)) for way, x in TRACED.items()},
        array=array,
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


@contextmanager
def running(dtype: str) -> Iterator[None]:
    """In 64-bit mode for float64, and in the caller's mode otherwise."""
    if dtype != "float64":
        yield
        return
    with _wide():
        yield


def differentiate(function: Callable[..., Any], arrays: Sequence[Any], dout: Any) -> Sequence[Any]:
    """The gradient of <dout, function(arrays)> by each array."""
    _, pull = jax.vjp(function, *arrays)
    found: Sequence[Any] = pull(dout)
    return found


def compiler(program: Any, data: tuple[type, ...]) -> Callable[..., Any]:
    """A function under jax.jit, what is none of `data` static. Raises Unsuitable: a class."""
    if isinstance(program, type):
        raise Unsuitable(f"{program.__name__} is a class, and jax.jit compiles functions")
    kept: dict[tuple[tuple[int, ...], tuple[str, ...]], Callable[..., Any]] = {}

    def run(*places: Any, **words: Any) -> Any:
        first = tuple(i for i, x in enumerate(places) if not isinstance(x, data))
        named = tuple(name for name, x in words.items() if not isinstance(x, data))
        if (first, named) not in kept:
            kept[first, named] = jax.jit(program, static_argnums=first, static_argnames=named)
        return kept[first, named](*places, **words)

    return run


def _wide() -> Any:
    """JAX's 64-bit mode as a context, under the name that this release gives it."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    experimental = importlib.import_module("jax.experimental")
    return experimental.enable_x64(True)
