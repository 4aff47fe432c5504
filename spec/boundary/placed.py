"""Arrays in the shared block that the judge has written, and arrays that a runner answered with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spec.backends.memory import KEPT, Laid, view_of
from spec.boundary.messages import Interfered, fields, numbered
from spec.notation import Array
from spec.runner.memory import FORMATS, flat
from spec.subject import Over

if TYPE_CHECKING:
    from spec.boundary.connection import Connection

HIGH = 16  # bits of a float32 that are those of a bfloat16


def encoded(x: Array, dtype: str) -> Array:
    """Numbers in a format, as its bytes; truth values and integers stay so."""
    if x.dtype in KEPT or x.dtype == np.int64:
        return np.ascontiguousarray(x)
    if dtype != "bfloat16":
        return x.astype(FORMATS[dtype])
    bits = x.astype(np.float32).view(np.uint32)
    even = ((bits >> HIGH) & 1) + np.uint32(0x7FFF)
    rounded = ((bits + even) >> HIGH).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


def decoded(raw: Array, dtype: str) -> Array:
    """The numbers of bytes in a format, as float64."""
    if dtype == "bfloat16":
        return (raw.astype(np.uint32) << HIGH).view(np.float32).astype(np.float64)
    return raw.astype(np.float64)


class Placed:
    """An array of the judge: a buffer in the block, and the view of it that a target gets."""

    def __init__(self, target: Any, raw: Array, dtype: str, laid: Laid) -> None:
        self.target, self.raw, self.dtype, self.laid = target, raw, dtype, laid
        self.requires_grad = False
        self.here: Connection | None = None
        self._written()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the view."""
        return self.laid.shape

    def number(self, connection: Connection) -> int:
        """Its number in a runner, in whose block it is written if it is not there yet."""
        if self.here is not connection:
            self._written()
        return self.id

    def _written(self) -> None:
        laid = self.laid
        form = (self.dtype, self.raw.size, laid.shape, laid.strides, laid.offset)
        here = self.target.connection()
        self.spot = here.spot(form, self.raw.nbytes, self.target.running)
        self.here, self.id, self.at = here, self.spot.id, self.spot.at
        here.block[self.at : self.at + self.raw.nbytes] = self.raw.tobytes()

    def now(self) -> Array:
        """The buffer as it is now, in the block or on a device that has a copy of it."""
        assert self.here is not None
        if self.target.copies:
            found: Array = self.target.read(self.target.ask("fetch", of=self.id)).raw
            return found
        form = {"dtype": self.dtype, "count": self.raw.size, "at": self.at}
        held: Array = flat(self.here.block, form)
        return held.copy()

    def numbers(self) -> Array:
        """The numbers of the view as they are in the block."""
        return decoded(view_of(self.now(), self.laid), self.dtype)

    def reshape(self, *shape: int) -> Placed:
        """The same numbers in another shape."""
        raw = np.ascontiguousarray(view_of(self.raw, self.laid)).reshape(-1)
        return Placed(self.target, raw, self.dtype, Laid(raw, shape))

    def becomes(self, raw: bytes) -> None:
        """Hold what a call has written into it."""
        assert self.here is not None
        self.here.block[self.at : self.at + len(raw)] = raw

    def tobytes(self) -> bytes:
        """The bytes of the buffer as it is now."""
        return self.now().tobytes()

    def __setitem__(self, everything: Any, value: float | Placed) -> None:
        """Write one number, or what another has, into the buffer, as a caller may after a call."""
        assert everything is ...
        assert self.here is not None
        if isinstance(value, Placed):
            self.raw = value.now()
        else:
            self.raw = encoded(np.full(self.raw.size, value), self.dtype)
        self.here.block[self.at : self.at + self.raw.nbytes] = self.raw.tobytes()

    def __deepcopy__(self, memo: Any) -> Placed:
        return Placed(self.target, self.now(), self.dtype, self.laid)

    def __del__(self) -> None:
        if self.here is not None:
            self.here.leave(self.spot)


class Leaf:
    """An array by which a call is differentiated. tape: all leaves of that call."""

    def __init__(self, of: Placed, tape: Tape) -> None:
        self.of, self.tape = of, tape
        self.shape, self.dtype, self.requires_grad = of.shape, of.dtype, True
        tape.leaves.append(self)

    def reshape(self, *shape: int) -> Placed:
        """The same numbers in another shape; no call is differentiated by them."""
        return self.of.reshape(*shape)


class Tape:
    """The leaves of a call, in order, and the cotangents of its results, where they are known.

    out, gradients: its only result, and the gradients that came with it, or what was raised in
    their place.
    """

    def __init__(self, douts: Sequence[Placed] = ()) -> None:
        self.leaves: list[Leaf] = []
        self.douts = douts
        self.out: Any = None
        self.gradients: list[Any] | Exception = []


class Answer:
    """An array of a runner: its form, and its numbers if they came with it."""

    def __init__(self, home: Any, told: Any, tape: int | None) -> None:
        self.home, self.tape = home, tape
        self.here: Connection = home.connection()
        self.id, self.dtype, self.shape = told["id"], told["dtype"], told["shape"]
        self.device, self.requires_grad = told["device"], told["grad"]
        self.raw: Array | None = None
        self.here.pinned += 1
        if told["at"] is not None:
            form = {"dtype": self.dtype, "count": math.prod(self.shape), "at": told["at"]}
            self.raw = flat(self.here.block, form).copy().reshape(self.shape)

    def number(self, connection: Connection) -> int:
        """Its number in the runner."""
        assert connection is self.here
        return int(self.id)

    def now(self) -> Array:
        """Its bytes as they are in the runner.

        Raises MemoryError: there are more than a block holds; Interfered.
        """
        found = self.home.read(self.home.ask("fetch", of=self.id))
        form = self.dtype, self.shape
        if not isinstance(found, Answer) or (found.dtype, found.shape) != form:
            raise Interfered("sent another array than it had answered with")
        if found.raw is None:
            raise MemoryError(f"an array of {self.dtype} {self.shape} that cannot be sent")
        return found.raw

    def numbers(self) -> Array:
        """Its numbers: at first those that came with it, then as they are in the runner.

        Raises MemoryError, Interfered: see `now`.
        """
        raw, self.raw = self.raw, None
        return decoded(self.now() if raw is None else raw, self.dtype)

    def astype(self, dtype: str) -> Any:
        """The same array in another dtype, as its library makes it."""
        name = "to" if self.home.chosen[0] == "torch" else "astype"
        method = self.home.read(self.home.ask("get", of=self.id, name=name))
        asked = {"of": numbered(method), "places": [{"dtype": dtype}], "words": {}}
        told = self.home.ask("call", **asked, **self.home.mode)
        return self.home.read(fields(told, {"is"})["is"], self.tape)

    def __deepcopy__(self, memo: Any) -> Answer | Placed:
        if self.tape is not None:  # a copy could not be differentiated
            return self
        raw = self.now().reshape(-1)
        return Placed(self.home, raw, self.dtype, Laid(raw, self.shape))

    def __del__(self) -> None:
        self.here.free.append(self.id)
        self.here.pinned -= 1


class Beyond(Over):
    """A question that only a runner can answer."""


class Taken(Answer):
    """An array that a program of its own has answered with (`alone`).

    at: its place among those of its answer. shared: the inputs whose memory it lies in; again:
    whether it lies in that of the answer before.
    """

    def __init__(self, told: Any, raw: Array | None, at: int, tape: int) -> None:
        self.dtype, self.shape, self.device = told["dtype"], told["shape"], told["device"]
        self.requires_grad, self.tape, self.kept, self.at = told["grad"], tape, raw, at
        self.shared: list[Placed] = []
        self.again = False

    def number(self, connection: Connection) -> int:
        """Raises Beyond."""
        raise Beyond(f"an array that {connection} does not have")

    def now(self) -> Array:
        """Its bytes. Raises MemoryError: it is in no format."""
        if self.kept is None:
            raise MemoryError(f"an array of {self.dtype} {self.shape} that cannot be sent")
        return self.kept

    def numbers(self) -> Array:
        """Its numbers. Raises MemoryError: see `now`."""
        return decoded(self.now(), self.dtype)

    def astype(self, dtype: str) -> Any:
        """Raises Beyond."""
        raise Beyond(dtype)

    def __del__(self) -> None:
        pass  # no runner keeps it
