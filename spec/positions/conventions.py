"""Programs that turn pairs of columns: which columns are a pair is a convention.

A program that was plugged in can be called again under another choice; a record of plain
functions of a problem says itself what it follows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spec.backends import Unsuitable
from spec.backends.calling import anew, behind
from spec.backends.library import Library
from spec.backends.results import watched
from spec.comparison import Violation
from spec.notation import Array, Call
from spec.positions.calling import Made
from spec.positions.pairing import inverse, order
from spec.positions.rotary.notation import Rotation
from spec.positions.sinusoidal.notation import Encoding


@dataclass(frozen=True)
class Turning:
    """A function of an array and of positions, seen as functions of a problem.

    asked: the options of a problem by our names. array: what the function is called with.
    result: what it returns, in words. backward_of: what a backward pass of its own is given.
    layout: "bhld", or "blhd" for the length before the heads.
    """

    made: Made
    pairing: str
    asked: Callable[[Library, Any], Mapping[str, Any]]
    array: str
    result: str
    backward_of: tuple[str, ...] = ("dout",)
    layout: str = "bhld"

    def forward(self, problem: Any) -> Array:
        """The result of the function, shaped like its array."""
        with self.made.running(problem.dtype):
            y = self._call(problem, self._put(problem, self.array))
            return self._read(y, problem, self.result)

    def watched(self, problem: Any) -> Call:
        """The call as its caller sees it; an array of positions is an input too."""
        with self.made.running(problem.dtype):
            x = getattr(problem, self.array)
            buffer, view = self.made.library.placed(self._native(problem, x), problem.dtype)
            options = self._options(problem)
            named = self.made.options.get("positions")
            positions = {"positions": options[named]} if named else {}
            return watched(
                self.made.library,
                {self.array: buffer, **positions},
                lambda: self._function(problem)(view, **options),
                lambda y: self._read(y, problem, self.result),
            )

    def backward(self, problem: Any) -> Array:
        """The gradient by the array, from the cotangent dout."""
        with self.made.running(problem.dtype):
            given = self.made.attribute("backward")
            if given is not None:
                arrays = (self._put(problem, name) for name in self.backward_of)
                dx = given(*arrays, **self._options(problem))
            else:
                x, dout = (self._put(problem, name) for name in (self.array, "dout"))
                (dx,) = self.made.library.gradients(partial(self._call, problem), [x], dout)
            return self._read(dx, problem, f"d{self.array}")

    def table(self, problem: Any) -> Array:
        """The rows of the problem's positions: what becomes of zeros, if they are not shown."""
        shown = self.made.attribute("table")
        if shown is None:
            return self.forward(problem.but(x=np.zeros((1, *problem.x.shape[1:]))))[0]
        with self.made.running(problem.dtype):
            number = self.made.library.format(problem.dtype)
            rows = shown(problem.N, problem.E, problem.first, number)
            numbers = self.made.read(rows, problem.x.shape[1:], problem.dtype, "the table")
            return numbers[..., inverse(problem.E, self.pairing)]

    def place(self, problem: Any) -> tuple[Array, Array, Array]:
        """q, k and v as attention is to receive them."""
        with self.made.running(problem.dtype):
            ready = self.made.attribute("place")
            assert ready is not None
            arrays = (self._put(problem, name) for name in "qkv")
            placed = ready(*arrays, **self._options(problem))
            if not isinstance(placed, tuple | list) or len(placed) != 3:
                raise Violation(f"place returned {type(placed).__name__}, want (q, k, v)")
            names = zip("qkv", placed, strict=True)
            q, k, v = (self._read(x, problem, f"the placed {name}") for name, x in names)
            return q, k, v

    def _call(self, problem: Any, x: Any) -> Any:
        return self._function(problem)(x, **self._options(problem))

    def _function(self, problem: Any) -> Callable[..., Any]:
        return self.made.function(getattr(problem, self.array).shape[-1], problem.dtype)

    def _options(self, problem: Any) -> dict[str, Any]:
        return self.made.named(self.asked(self.made.library, problem))

    def _put(self, problem: Any, name: str) -> Any:
        native = self._native(problem, getattr(problem, name))
        return self.made.library.placed(native, problem.dtype)[1]

    def _native(self, problem: Any, x: Array) -> Array:
        """In the layout of the function, its columns in the order of the function."""
        return self._laid(x[..., order(x.shape[-1], self.pairing, problem.width)])

    def _read(self, result: Any, problem: Any, what: str) -> Array:
        shape = self._laid(getattr(problem, self.array)).shape
        numbers = self._laid(self.made.read(result, shape, problem.dtype, what))
        return numbers[..., inverse(numbers.shape[-1], self.pairing, problem.width)]

    def _laid(self, x: Array) -> Array:
        """From our layout to the function's, or back."""
        return x.swapaxes(1, 2) if self.layout == "blhd" else x


Paired = Encoding | Rotation


def paired(record: Paired, declared: Mapping[str, str]) -> Paired:
    """The record, its columns being paired as declared.

    Raises Unsuitable for a record that was written by hand, and is paired in another way.
    """
    pairing = declared.get("pairing", record.chosen["pairing"])
    if pairing == record.chosen["pairing"]:
        return record
    if behind(record.call, Turning) is None:
        raise Unsuitable(f"--convention pairing={pairing}: {record.name} is a record already")

    def anew_paired(_: str, function: Callable[..., Any]) -> Any:
        return anew(function, pairing=pairing) if behind(function, Turning) else function

    return record.but(conventions={"pairing": pairing}).through(anew_paired)
