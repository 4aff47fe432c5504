"""The record of an ordinary program that adds sinusoidal positions.

    encoding(encode)             encode(x) or encode(x, first): (B, N, E) to (B, N, E)
    encoding(PositionalEncoding) a class: PositionalEncoding(E) is such a function

A table is seen through zeros, to which it is added. `encode.table(length, width, first, dtype)`
and `encode.backward(dout, x, first)` are used where they are there; torch differentiates by
itself. For the pairing "halves" the columns are put in the order of this specification.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spec.backends.library import name_of
from spec.backends.results import watched
from spec.notation import Array, Call
from spec.positions.calling import Made, made, options_of
from spec.positions.pairing import inverse, known, order
from spec.positions.record import Capability
from spec.positions.sinusoidal.notation import KINDS, Encoding, Problem
from spec.subject import not_offered


def encoding(
    target: Callable[..., Any],
    *,
    name: str | None = None,
    backend: str | None = None,
    device: str = "cpu",
    dtypes: tuple[str, ...] | None = None,
    conventions: Mapping[str, str] | None = None,
    origin: str = "",
) -> Encoding:
    """The record of a program that adds sinusoidal positions (Vaswani et al. 2017, section 3.5).

    target: encode(x) or encode(x, first) gives x (B, N, E) plus PE[first ... first + N - 1], in
        the dtype of x; or a class, whose objects, made from E, are such functions. The first
        position may be called first, offset, start, start_pos or position_offset; without
        it only texts that start at zero are asked for. `encode.table(length, width, first,
        dtype)` gives (length, width), and `encode.backward(dout, x[, first])` dx (B, N, E).
    name, origin: what it is called, and how a person imports it. backend, device: "numpy",
        "torch" or "jax", told from the target's module if not said, and where it runs.
    dtypes: the formats it takes, all of the library's if not said.
    conventions: {"pairing": "halves"} where all sines come before all cosines; else those that
        the target carries as an attribute `conventions`.
    Raises Unsuitable, in one line: what is no function; parameters that are required and that
    no problem has, or too few of them; an unknown pairing or library. A result of the wrong
    shape or dtype is a Violation when it comes, and an exception a Refused.
    """
    chosen = conventions or getattr(target, "conventions", {})
    ready = made(target, backend, device)
    seen = Seen(ready, known(chosen), options_of(ready, 1, ("first",)))
    kinds = KINDS if "first" in seen.options else KINDS - {Capability.OFFSET}
    return Encoding(
        name=name or name_of(target),
        table=seen.table,
        add=seen.add,
        call=seen.watched,
        backward=seen.backward if ready.differentiates else not_offered,
        answers=kinds,
        differentiates=kinds,
        dtypes=dtypes or ready.library.dtypes,
        conventions=chosen,
        origin=origin,
    )


@dataclass(frozen=True)
class Seen:
    """A function of tokens, seen as functions of a problem."""

    made: Made
    pairing: str
    options: Mapping[str, str]

    def add(self, problem: Problem) -> Array:
        """y (B, N, E)."""
        with self.made.running(problem.dtype):
            return self._read(self._call(problem, self._put(problem, problem.x)), problem, "y")

    def watched(self, problem: Problem) -> Call:
        """The sum as its caller sees it."""
        with self.made.running(problem.dtype):
            buffer, x = self.made.library.placed(self._turned(problem.x), problem.dtype)
            return watched(
                self.made.library,
                {"x": buffer},
                lambda: self._call(problem, x),
                lambda y: self._read(y, problem, "y"),
            )

    def table(self, problem: Problem) -> Array:
        """The rows of the problem's positions: what becomes of zeros, if they are not shown."""
        shown = self.made.attribute("table")
        if shown is None:
            zeros = problem.but(x=np.zeros((1, *problem.x.shape[1:])))
            return self.add(zeros)[0]
        with self.made.running(problem.dtype):
            rows = shown(
                problem.N, problem.E, problem.first, self.made.library.format(problem.dtype)
            )
            numbers = self.made.read(rows, problem.x.shape[1:], problem.dtype, "the table")
            return numbers[..., inverse(problem.E, self.pairing)]

    def backward(self, problem: Problem) -> Array:
        """dx (B, N, E)."""
        x, dout = (self._put(problem, array) for array in (problem.x, problem.dout))
        with self.made.running(problem.dtype):
            given = self.made.attribute("backward")
            if given is not None:
                return self._read(given(dout, x, **self._options(problem)), problem, "dx")
            call = partial(self._call, problem)
            (dx,) = self.made.library.gradients(call, [x], dout)
            return self._read(dx, problem, "dx")

    def _call(self, problem: Problem, x: Any) -> Any:
        return self.made.function(problem.E, problem.dtype)(x, **self._options(problem))

    def _options(self, problem: Problem) -> dict[str, int]:
        return {self.options["first"]: problem.first} if "first" in self.options else {}

    def _put(self, problem: Problem, x: Array) -> Any:
        return self.made.library.placed(self._turned(x), problem.dtype)[1]

    def _turned(self, x: Array) -> Array:
        """Its columns in the order of the function."""
        return x[..., order(x.shape[-1], self.pairing)]

    def _read(self, result: Any, problem: Problem, what: str) -> Array:
        numbers = self.made.read(result, problem.x.shape, problem.dtype, what)
        return numbers[..., inverse(problem.E, self.pairing)]
