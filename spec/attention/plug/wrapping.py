"""An ordinary attention function seen as functions of a problem.

Every result is checked before its numbers are looked at (`results`).
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from spec.attention.notation import Problem
from spec.attention.plug.formats import LYING, WHOLE, format_of, memory_of, promoting
from spec.attention.plug.keeping import kept, written
from spec.attention.plug.layouts import LAYOUTS, Layout
from spec.attention.plug.shapes import shapes_of
from spec.attention.plug.signature import Signature
from spec.backends.library import Library
from spec.backends.results import check, read, refusing, watched
from spec.notation import Array, Call

INPUTS = ("q", "k", "v")


@dataclass(frozen=True)
class Wrapped:
    """A function of arrays, how it is called, and the library whose arrays it takes.

    layout: the axes of its arrays.
    """

    function: Callable[..., Any]
    signature: Signature
    library: Library
    layout: Layout = LAYOUTS["bhld"]

    def forward(self, problem: Problem) -> Array:
        """The output (B, H, N, E). Raises Violation or Refused."""
        return self._answer(problem, problem.dout.shape, "the output", like="q")

    def training(self, problem: Problem) -> Array:
        """The output (B, H, N, E), computed while gradients are recorded."""
        with self.library.quiet(problem.dtype):
            arrays, options = self._arrays(problem), self._options(problem)

            def run(*inputs: Any) -> Any:
                return self._call(problem, [*inputs], options)

            with refusing():
                result = self.library.training(run, arrays)
            return self._read(problem, result, problem.dout.shape, problem.dtype, "the output")

    def watched(self, problem: Problem) -> Call:
        """The forward pass, and what it did to its inputs and their memory."""
        with self.library.quiet(problem.dtype):
            names = (*INPUTS, *self.given(problem))
            placed = {name: self._put(problem, name) for name in names}
            views = {name: view for name, (_, view) in placed.items()}
            inputs = [views.pop(name) for name in INPUTS]

            def seen(result: Any) -> Array:
                ours, layout = problem.dout.shape, self.layout.of(problem)
                check(self.library, result, layout.shape(ours), None, "the output")
                return layout.back(self.library.get(result), ours)

            buffers = {name: placed[name][0] for name in names}
            call = watched(self.library, buffers, lambda: self._call(problem, inputs, views), seen)
            return written(self.layout.of(problem), call)

    def weights(self, problem: Problem) -> Array:
        """The weights (B, H, N, M), whatever the layout is."""
        return self._answer(problem, (problem.B, problem.H, problem.N, problem.M), "the weights")

    def lse(self, problem: Problem) -> Array:
        """The log-sum-exp (B, H, N), in any float format of at least the problem's precision."""
        shape = self._shape_of_lse(problem)
        found = self._answer(problem, shape, "the log-sum-exp", any_dtype=True)
        return found.swapaxes(1, 2) if self.signature.turned else found

    def _shape_of_lse(self, problem: Problem) -> tuple[int, int, int]:
        B, H, N = problem.B, problem.H, problem.N
        return (B, N, H) if self.signature.turned else (B, H, N)

    @property
    def with_lse(self) -> Self:
        """The same function, which is asked for its log-sum-exp as well."""
        return replace(self, signature=replace(self.signature, asking=self.signature.returning))

    def _answer(
        self,
        problem: Problem,
        shape: tuple[int, ...],
        what: str,
        *,
        inputs: tuple[str, ...] = INPUTS,
        any_dtype: bool = False,
        like: str = "",
    ) -> Array:
        """What a call with the arrays of these names returns; like: the input it is shaped like."""
        with self.library.quiet(problem.dtype):
            result = self._apply(problem, self._arrays(problem, inputs))
            dtype = None if any_dtype else problem.dtype
            return self._read(problem, result, shape, dtype, what, like)

    def _arrays(self, problem: Problem, names: tuple[str, ...] = INPUTS) -> list[Any]:
        return [self._put(problem, name)[1] for name in names]

    def _options(self, problem: Problem) -> dict[str, Any]:
        return {name: self._put(problem, name)[1] for name in self.given(problem)}

    def given(self, problem: Problem) -> list[str]:
        """The arrays that are passed in addition to q, k and v."""
        told = self.signature.told(self.layout.of(problem).told).items()
        taught = ["dlse"] * (problem.dlse is not None and self.signature.taught is not None)
        given = (*self.signature.given(problem), *taught)
        return [*given, *(n for n, x in told if not isinstance(x, int))]

    def counts(self, problem: Problem) -> dict[str, int]:
        """The arguments that give the positions of tokens and are no arrays."""
        told = self.signature.told(self.layout.of(problem).told)
        return {name: x for name, x in told.items() if isinstance(x, int)}

    def _put(self, problem: Problem, name: str) -> tuple[Any, Any]:
        """The buffer and the view that hand over one array of the problem."""
        x = self.native(problem, name)
        memory = memory_of(problem, name, self.layout.of(problem), x)
        return self.library.placed(x, format_of(problem, name), memory)

    def native(self, problem: Problem, name: str) -> Array:
        """An array of the problem, or one shaped like it, in the layout of the function."""
        told = self.layout.of(problem).told
        if name in told:
            return np.asarray(told[name], dtype=np.int32 if name in LYING else None)
        x: Array = getattr(problem, name)
        if name in (*INPUTS, "dout"):
            return self.layout.of(problem).put(x, name)
        if name == "dlse":
            x = x.swapaxes(1, 2) if self.signature.turned else x
            return self.layout.of(problem).put(x, "")
        if name in WHOLE:
            return self.signature.whole(name, problem)
        if name != "mask":
            return x
        own = self.signature.renamed(name, problem)
        return self.layout.mask(x, problem.B, problem.H) if own is None else own

    def _apply(self, problem: Problem, arrays: list[Any]) -> Any:
        return self._call(problem, arrays, self._options(problem))

    def _call(self, problem: Problem, arrays: list[Any], options: Mapping[str, Any]) -> Any:
        return self.signature.wanted(self._result(problem, arrays, options))

    def _result(self, problem: Problem, arrays: list[Any], options: Mapping[str, Any]) -> Any:
        ordered, named = self.signature.arranged(arrays)
        asked = self.signature.keywords(problem, {**options, **self.counts(problem)})
        with refusing(lambda: self._shapes(problem, ordered, {**named, **asked})):
            result = self.function(*ordered, **named, **asked)
        kept(self.library, self.layout.of(problem), problem, arrays)
        return result

    def _shapes(
        self, problem: Problem, ordered: list[Any], options: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """The shapes of the options that are arrays, for a call that raised an exception."""
        layout = self.layout.of(problem)
        wanted = layout.shape(problem.dout.shape, "q")

        def answers(changed: Mapping[str, Any]) -> bool:
            if self.library.device != "cpu":  # a bad address would end all later calls on a GPU
                return False
            with suppress(Exception, SystemExit):
                result = self.signature.wanted(self.function(*ordered, **{**options, **changed}))
                return tuple(result.shape) == wanted
            return False

        return shapes_of(self.signature, problem, options, answers)

    def _read(
        self,
        problem: Problem,
        result: Any,
        shape: tuple[int, ...],
        dtype: str | None,
        what: str,
        like: str = "q",
    ) -> Array:
        """The numbers of a result, in our layout, once it is known to be what was wanted."""
        layout = self.layout.of(problem)
        with promoting(problem):
            found = read(self.library, result, layout.shape(shape, like), dtype, what)
        return layout.back(found, shape, like)
