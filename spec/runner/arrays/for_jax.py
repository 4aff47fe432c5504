"""Arrays of JAX, with gradients by vjp.

float64 needs JAX's 64-bit mode, which is switched on around each float64 call and left as it was.
JAX arrays have no strides, so the layout in memory makes no difference here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..chance import Chance
from ..compiled import TRACED, listen
from ..errors import Absent
from ..memory import strided

listen(jax.monitoring)

BF16 = jnp.bfloat16


class Jax(Chance):
    """JAX on one device."""

    name = "jax"
    ways = TRACED

    def __init__(self, place: Any) -> None:
        self.place = place
        self.array = type(jax.device_put(np.zeros(()), place))

    def placed(self, flat: Any, told: Any) -> tuple[Any, Any]:
        """The array that lies in the shared block, copied, twice."""
        numbers = strided(flat, told)
        if told["dtype"] == "bfloat16":
            numbers = np.ascontiguousarray(numbers).view(BF16)
        array = jax.device_put(np.array(numbers), self.place)
        return array, array

    def told(self, x: Any) -> dict[str, Any] | None:
        """Format, shape and place of an array; None for anything else."""
        if type(x) is not self.array:
            return None
        place = str(next(iter(x.devices())).platform)
        return {"dtype": str(x.dtype), "shape": x.shape, "device": place, "grad": None}

    def raw(self, x: Any) -> Any:
        """The numbers of an array, in memory of their own; bfloat16 as its bits."""
        own = np.array(np.asarray(x), order="C")
        return own.view(np.uint16) if own.dtype == BF16 else own

    @contextmanager
    def running(self, dtype: str) -> Iterator[None]:
        """In 64-bit mode for float64, and in the usual mode otherwise."""
        if dtype != "float64":
            yield
            return
        with _wide():
            yield

    def recording(self) -> AbstractContextManager[Any]:
        """The context in which gradients are recorded: any."""
        return nullcontext()

    def overlap(self, x: Any, y: Any) -> bool:  # noqa: ARG002 - JAX arrays are immutable
        """Whether two arrays share memory: never, as far as anybody can tell."""
        return False

    def integers(self, flat: Any) -> Any:
        """Whole numbers as an array of integers."""
        return jax.device_put(flat.copy(order="C"), self.place)

    def recorded(self, call: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, Any]:
        """The result of a call of leaves, and the pull-back of the arrays in it."""
        forms: list[Any] = []

        def flat(*leaves: Any) -> list[Any]:
            found, form = jax.tree_util.tree_flatten(call(*leaves))
            traced = [
                isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.floating) for x in found
            ]
            forms[:] = [form, traced, found]
            return [x for x, is_array in zip(found, traced, strict=True) if is_array]

        outs, pull = jax.vjp(flat, *arrays)
        form, traced, found = forms
        whole, left = [], iter(outs)
        for x, is_array in zip(found, traced, strict=True):
            whole.append(next(left) if is_array else x)
        return jax.tree_util.tree_unflatten(form, whole), (outs, pull)

    def pulled(self, tape: Any, outs: Sequence[Any], douts: Sequence[Any]) -> list[Any]:
        """The gradient of the sum of <dout, out> by each leaf."""
        made, pull = tape
        given = {id(out): dout for out, dout in zip(outs, douts, strict=True)}
        return [*pull([given.get(id(x), jnp.zeros_like(x)) for x in made])]

    def format(self, name: str) -> Any:
        """A format, as the library calls it."""
        return getattr(jnp, name)

    def compiled(self, program: Any, way: str) -> Any:
        """A function under jax.jit, what is no array static. Raises Absent: a class."""
        return compiler(program, (jax.Array, *self.ways[way]))


def compiler(program: Any, data: tuple[type, ...]) -> Callable[..., Any]:
    """A function under jax.jit, what is none of `data` static. Raises Absent: a class."""
    if isinstance(program, type):
        raise Absent(f"{program.__name__} is a class, and jax.jit compiles functions")
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


def library(device: str) -> Jax:
    """JAX on `device`. Raises Absent where there is no such device."""
    try:
        return Jax(jax.devices("gpu" if device.startswith("cuda") else device)[0])
    except RuntimeError as error:
        line = (str(error).splitlines() or [""])[0]
        raise Absent(f"JAX has no device {device!r} here: {line}") from None
