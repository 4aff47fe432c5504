"""An ordinary attention function seen as functions of a problem.

Every result is checked before its numbers are looked at (`results`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.attention.notation import Gradients, Problem
from spec.attention.plug.formats import LYING, WHOLE, format_of, memory_of
from spec.attention.plug.keeping import kept, written
from spec.attention.plug.layouts import LAYOUTS, Layout
from spec.attention.plug.signature import Signature, by_name
from spec.backends.library import Library
from spec.backends.results import check, read, refusing, watched, words
from spec.comparison import Violation
from spec.notation import Array, Call
from spec.subject import Refused

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
        assert self.library.recorded is not None
        with self.library.quiet(problem.dtype):
            arrays, options = self._arrays(problem), self._options(problem)

            def run(*inputs: Any) -> Any:
                return self._call(problem, [*inputs], options)

            with refusing():
                result = self.library.recorded(run, arrays)
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

    def gradients(self, problem: Problem) -> Gradients:
        """dq, dk, dv by the library's own differentiation."""
        return Gradients(**self.partial(problem, INPUTS))

    def partial(self, problem: Problem, names: tuple[str, ...]) -> Mapping[str, Array]:
        """The gradients of some of the arrays, the others being constants."""
        with self.library.quiet(problem.dtype):
            placed = dict(zip(INPUTS, self._arrays(problem), strict=True)) | self._options(problem)

            def function(*chosen: Any) -> Any:
                given = {**placed, **dict(zip(names, chosen, strict=True))}
                result = self._call(problem, [given.pop(name) for name in INPUTS], given)
                wanted = self.layout.of(problem).shape(problem.dout.shape)
                check(self.library, result, wanted, problem.dtype, "the output", placed=False)
                return result

            dout = self._put(problem, "dout")[1]
            with refusing():
                found = self.library.gradients(function, [placed[n] for n in names], dout)
            return self._differentials(problem, names, found)

    def _differentials(
        self, problem: Problem, names: tuple[str, ...], found: Sequence[Any]
    ) -> dict[str, Array]:
        """The numbers of gradients, each shaped like what it is taken by.

        What is no input has the axes that it has, in every layout.
        """

        def numbers(name: str, x: Any) -> Array:
            shape, dtype = getattr(problem, name).shape, format_of(problem, name)
            if name in INPUTS:
                return self._read(problem, x, shape, dtype, f"d{name}", like=name)
            return read(self.library, x, shape, dtype, f"d{name}")

        return {name: numbers(name, x) for name, x in zip(names, found, strict=True)}

    def mask_gradient(self, problem: Problem) -> Array:
        """The gradient of an additive mask, shaped like the mask."""
        return self.partial(problem, ("mask",))["mask"]

    def sink_gradient(self, problem: Problem) -> Array:
        """The gradient of the sinks.   (H,)"""
        return self.partial(problem, ("sinks",))["sinks"]

    def slope_gradient(self, problem: Problem) -> Array:
        """The gradient of the slopes.   (H,) or (B, H)"""
        return self.partial(problem, ("slopes",))["slopes"]

    def given_gradients(self, problem: Problem) -> Gradients:
        """dq, dk, dv where the function is `backward(dout, query, key, value, **options)`."""
        return Gradients(**self._given(problem, INPUTS))

    def given_sink_gradient(self, problem: Problem) -> Array:
        """dsinks where that function returns a mapping. Raises Refused: it does not have it."""
        return self._given(problem, ("sinks",))["sinks"]

    def given_slope_gradient(self, problem: Problem) -> Array:
        """dslopes, likewise."""
        return self._given(problem, ("slopes",))["slopes"]

    def _given(self, problem: Problem, names: tuple[str, ...]) -> dict[str, Array]:
        """Of what `backward` returns: (dq, dk, dv), or arrays by the names of parameters."""
        with self.library.quiet(problem.dtype):
            result = self._apply(problem, self._arrays(problem, ("dout", *INPUTS)))
            if isinstance(result, tuple | list) and len(result) >= 3:
                result = dict(zip(INPUTS, result, strict=False))
            if not isinstance(result, Mapping):
                raise Violation(f"backward returned {words(result)}, want (dq, dk, dv)")
            found = {name: by_name(result, name) for name in names}
            for name in {"sinks", "slopes"} & {*names}:
                if found[name] is None:
                    raise Refused(f"backward returns no gradient of the {name}")
            return self._differentials(problem, names, [found[name] for name in names])

    def given_mask_gradient(self, problem: Problem) -> Array:
        """dmask where the function is `bias_gradient(dout, query, key, value, **options)`."""
        assert problem.mask is not None
        return self._answer(problem, problem.mask.shape, "dmask", inputs=("dout", *INPUTS))

    def own_sink_gradient(self, problem: Problem) -> Array:
        """dsinks where the function is `sink_gradient(dout, query, key, value, **options)`."""
        return self._own(problem, "sinks")

    def own_slope_gradient(self, problem: Problem) -> Array:
        """dslopes where the function is `slope_gradient(dout, query, key, value, **options)`."""
        return self._own(problem, "slopes")

    def _own(self, problem: Problem, name: str) -> Array:
        with self.library.quiet(problem.dtype):
            result = self._apply(problem, self._arrays(problem, ("dout", *INPUTS)))
            return self._differentials(problem, (name,), [result])[name]

    def weights(self, problem: Problem) -> Array:
        """The weights (B, H, N, M), whatever the layout is."""
        return self._answer(problem, (problem.B, problem.H, problem.N, problem.M), "the weights")

    def lse(self, problem: Problem) -> Array:
        """The log-sum-exp (B, H, N), in any float format of at least the problem's precision."""
        B, H, N, turned = problem.B, problem.H, problem.N, self.signature.turned
        shape = (B, N, H) if turned else (B, H, N)
        found = self._answer(problem, shape, "the log-sum-exp", any_dtype=True)
        return found.swapaxes(1, 2) if turned else found

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
        """The arrays that are handed over beside q, k and v."""
        told = self.signature.told(self.layout.of(problem).told).items()
        return [*self.signature.given(problem), *(n for n, x in told if not isinstance(x, int))]

    def counts(self, problem: Problem) -> dict[str, int]:
        """What is said of where tokens lie that is no array."""
        told = self.signature.told(self.layout.of(problem).told)
        return {name: x for name, x in told.items() if isinstance(x, int)}

    def _put(self, problem: Problem, name: str) -> tuple[Any, Any]:
        """The buffer and the view that hand over one array of the problem."""
        x, memory = self.native(problem, name), memory_of(problem, name, self.layout.of(problem))
        return self.library.placed(x, format_of(problem, name), memory)

    def native(self, problem: Problem, name: str) -> Array:
        """An array of the problem, or one shaped like it, in the layout of the function."""
        told = self.layout.of(problem).told
        if name in told:
            return np.asarray(told[name], dtype=np.int32 if name in LYING else None)
        x: Array = getattr(problem, name)
        if name in (*INPUTS, "dout"):
            return self.layout.of(problem).put(x, name)
        if name in WHOLE:
            return x.astype(np.int32)
        return self.layout.mask(x, problem.B, problem.H) if name == "mask" else x

    def _apply(self, problem: Problem, arrays: list[Any]) -> Any:
        return self._call(problem, arrays, self._options(problem))

    def _call(self, problem: Problem, arrays: list[Any], options: Mapping[str, Any]) -> Any:
        ordered, named = self.signature.arranged(arrays)
        asked = self.signature.keywords(problem, {**options, **self.counts(problem)})
        with refusing():
            result = self.function(*ordered, **named, **asked)
        kept(self.library, self.layout.of(problem), problem, arrays)
        return self.signature.wanted(result)

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
        found = read(self.library, result, layout.shape(shape, like), dtype, what)
        return layout.back(found, shape, like)
