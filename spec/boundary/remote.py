"""An array library whose arrays live in a runner: what the specification asks of a library."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spec.backends.library import Library
from spec.backends.memory import Laid
from spec.boundary.messages import number_of, numbered, truth
from spec.boundary.placed import Answer, Leaf, Placed, Taken, Tape, encoded
from spec.notation import DTYPES
from spec.runner.memory import FLOATS

COMPILED = ":"  # begins the part of a path that says how a function is compiled


@dataclass(frozen=True)
class Format:
    """A format, as a library calls it."""

    name: str

    def written(self, library: str) -> str:
        """The format as source text."""
        if library == "numpy":
            return f"np.dtype({self.name!r})"
        return f"{'jnp' if library == 'jax' else library}.{self.name}"


def value(x: Any, sent: Callable[[Any], Any]) -> Any:
    """A value that is no array, as it is written in a message. sent: writes what it holds."""
    if isinstance(x, Format):
        return {"dtype": x.name}
    if isinstance(x, float) and x - x != 0:
        return {"f": repr(float(x))}
    if isinstance(x, Mapping):
        return {"d": [[key, sent(y)] for key, y in x.items()]}
    if isinstance(x, tuple | list):
        return {"t" if isinstance(x, tuple) else "l": [*map(sent, x)]}
    return x.item() if hasattr(x, "item") else x


def remote(target: Any, name: str, device: str) -> Library:
    """The library of a target's runner. Raises Unsuitable: it, or the device, is not there."""
    target.choose(name, device)
    place = device.partition(":")[0]
    differs = name != "numpy"
    return Library(
        name=name,
        device="gpu" if (name, place) == ("jax", "cuda") else place,
        dtypes=DTYPES if differs else tuple(FLOATS),
        put=lambda laid, dtype: put(target, laid, dtype),
        integers=lambda x: placed(target, np.asarray(x, np.int64)),
        format=Format,
        get=lambda x: x.numbers(),
        dtype_of=lambda x: x.dtype if isinstance(x, Answer | Placed | Leaf) else None,
        device_of=lambda x: getattr(x, "device", place),
        running=lambda dtype: running(target, (name, device), dtype),
        differentiate=(lambda *asked: differentiate(target, *asked)) if differs else None,
        recorded=recorded if differs else None,
        copied=lambda x: x.now(),
        same=lambda x, before: x.now().tobytes() == before.tobytes(),
        overlap=lambda x, y: overlap(target, x, y),
        compilers={way: partial(compiled, target, way=way) for way in target.ways},
        chance=Chance(target),
    )


def compiled(target: Any, program: Any, way: str) -> Any:
    """A function or a class of a runner as its library's compiler runs it."""

    def made() -> Any:
        return target.ask("compile", of=program._number, way=way)

    found = target.read(made(), again=lambda: number_of(made()))
    target.connection().pinned += 1  # another runner would compile every program again
    path = getattr(program, "path", None)
    if path is not None and target.chosen[0] == "torch":
        found.path = (*path, f"{COMPILED}{way}")
    return found


class Chance:
    """The random numbers of a runner's library."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def state(self) -> Any:
        """The state of the library's own source."""
        return self.target.read(self.target.ask("chance", how="state"))

    def back(self, state: Any) -> None:
        """Give the library's own source the state that it had."""
        self.target.ask("chance", how="back", of=numbered(state))

    def start(self, seed: int) -> None:
        """Start the library's own source at a seed."""
        self.target.ask("chance", how="start", seed=seed)

    def generator(self, seed: int) -> Any:
        """A generator of the library, at a seed."""
        return self.target.read(self.target.ask("chance", how="generator", seed=seed))


def put(target: Any, laid: Laid, dtype: str) -> tuple[Placed, Placed]:
    """An array as the target gets it, twice: it is a buffer and its view."""
    raw = encoded(laid.buffer, dtype)
    kept = str(raw.dtype) if raw.dtype.kind in "bi" else dtype
    array = Placed(target, raw, kept, laid)
    return array, array


def placed(target: Any, x: Any) -> Placed:
    """Whole numbers as an array."""
    flat = x.reshape(-1)
    return Placed(target, flat, str(flat.dtype), Laid(flat, x.shape))


@contextmanager
def running(target: Any, chosen: tuple[str, str], dtype: str) -> Iterator[None]:
    """Calls for a dtype, with arrays of a library on a device."""
    if target.chosen != chosen:
        target.choose(*chosen)
    before, target.running = target.running, dtype
    try:
        with np.errstate(all="ignore"):  # a number may be none of the format that it is written in
            yield
    finally:
        target.running = before


def recorded(function: Callable[..., Any], arrays: Sequence[Any], tape: Tape | None = None) -> Any:
    """The result of the function if each of the arrays requires a gradient. tape: of the call."""
    tape = tape or Tape()
    return function(*(Leaf(x, tape) for x in arrays))


def differentiate(
    target: Any, function: Callable[..., Any], arrays: Sequence[Any], dout: Any
) -> Sequence[Any]:
    """The gradient of <dout, function(arrays)> by each array."""
    tape = Tape(dout if isinstance(dout, tuple) else (dout,))
    out = recorded(function, arrays, tape)
    if tape.out is not None and out is tape.out:
        if isinstance(tape.gradients, Exception):
            raise tape.gradients
        return tape.gradients
    outs, douts = (out, dout) if isinstance(out, tuple) else ((out,), (dout,))
    found: Sequence[Any] = target.pulled(outs, douts)
    return found


def overlap(target: Any, x: Any, y: Any) -> bool:
    """Whether an array of a runner lies in the memory of another."""
    if isinstance(x, Taken):
        return any(one is y for one in x.shared) or (isinstance(y, Taken) and y.again)
    here = target.connection()
    return truth(target.ask("overlap", **{"of": x.number(here), "with": y.number(here)}))
