"""Calls of an implementation as source text, with its own library and nothing else.

The arrays of a problem stand there as literal numbers and, where the memory is not
contiguous, as the same view of the same buffer that the implementation was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.attention.explaining.calls import Asked
from spec.attention.notation import Problem
from spec.attention.options import ARRAYS
from spec.attention.plug.formats import format_of, memory_of
from spec.attention.plug.layouts import Layout
from spec.attention.plug.wrapping import Wrapped
from spec.attention.record import Implementation
from spec.backends.calling import behind
from spec.backends.compiling import as_source
from spec.backends.memory import Laid, laid_out
from spec.notation import Array
from spec.subject import named
from spec.written import IMPORTS, MADE, NUMBERS, array_of, imported

LIKE = {"o": "q", "dq": "q", "dk": "k", "dv": "v"}  # what comes back shaped like an input


@dataclass(frozen=True)
class Source:
    """How one implementation is imported and called.

    call: the function, its signature, its library and its layout.
    """

    raw: Implementation
    call: Wrapped

    @staticmethod
    def of(raw: Implementation, dtype: str = "") -> Source | None:
        """None where no script can call it: what its name stands for is no function of arrays.

        Or its library has no name for the format, as NumPy has none for bfloat16.
        """
        call = behind(raw.forward, Wrapped)
        if call is None or call.library.name not in MADE:
            return None
        if (call.library.name, dtype) == ("numpy", "bfloat16"):
            return None
        return None if isinstance(named(raw.origin), Implementation) else Source(raw, call)

    @property
    def library(self) -> str:
        """The name of the library."""
        return self.call.library.name

    @property
    def name(self) -> str:
        """The name of the function where it is imported from."""
        return self.raw.origin.rpartition(":")[2]

    def imports(self, dtype: str) -> list[str]:
        """The lines that a script opens with."""
        lines = imported(self.raw.origin, IMPORTS[self.library])
        if self.library == "jax" and dtype == "float64":
            lines.insert(-1, 'jax.config.update("jax_enable_x64", True)')
        return lines

    def callee(self, asked: Asked) -> tuple[str, Wrapped] | None:
        """The source of a call: a name, and the function as it is called.

        None where it has no name: it was passed together with the function.
        """
        found = behind(getattr(self.raw, asked.function), Wrapped)
        if found is None:
            return None
        if found.function == self.call.function:
            return self.name, found
        beside = getattr(self.call.function, asked.function, None)
        return (f"{self.name}.{asked.function}", found) if beside == found.function else None

    def arrays(self, asked: Asked) -> dict[str, str]:
        """The arrays of a call, by the names that they have in a script."""
        names = ["q", "k", "v", *self.call.given(asked.problem)]
        if asked.inputs:
            names += cotangents(asked.problem)
        return {_called(self.call, x): self._array(asked.problem, x) for x in names}

    def prepared(self, asked: Asked) -> list[str]:
        """The lines that prepare the arrays of a call before it is made."""
        inputs = ("q", "k", "v") if asked.function == "training" else asked.inputs
        if self.library != "torch" or not inputs or not self._is_itself(asked):
            return []
        return [f"for x in [{', '.join(inputs)}]:", "    x.requires_grad_()"]

    def expression(self, asked: Asked, name: str = "") -> str:
        """A call, whole; or the array `name` of its answer."""
        callee = self.callee(asked)
        assert callee is not None
        written, wrapped = callee
        itself, index = self._is_itself(asked), ""
        differentiates = itself and bool(asked.inputs)
        if name and (differentiates or asked.function == "backward"):
            index = f"[{asked.inputs.index(name[1:])}]"
        index = "[1]" if wrapped.signature.asking else index
        arrays = ["q", "k", "v"]
        if asked.inputs and not differentiates:
            arrays = ["dout", *arrays]
        taught = cotangents(asked.problem)
        if differentiates and "dlse" in taught:
            wrapped = wrapped.with_lse
        options = _options(wrapped, asked.problem)
        plain = {name: x for name, x in options.items() if not isinstance(x, str)}
        called = as_source(self.library, self.raw.compiled, written, plain)
        text = f"{called}({_arguments(wrapped, options, arrays)})"
        text = f"{text}[:2]" if differentiates and "dlse" in taught else text
        if self.library == "jax" and itself and asked.function == "training":
            return f"jax.vjp(lambda q, k, v: {text}, q, k, v)[0]"
        return f"{self._derivative(text, asked.inputs, taught) if differentiates else text}{index}"

    def forms(self, asked: Asked) -> list[Any]:
        """The dtype and the shape of each array of an answer; of the log-sum-exp, the shape."""
        p, layout = asked.problem, self.call.layout.of(asked.problem)
        found = [layout.shape(_ours(p, name), LIKE.get(name, "")) for name in asked.names]
        if self._turned(asked):
            found = [(B, N, H) for B, H, N in found]
        dtype = f"torch.{p.dtype}" if self.library == "torch" else p.dtype
        return found if asked.function == "lse" else [(dtype, shape) for shape in found]

    def numbers(self, asked: Asked, name: str) -> str:
        """An array of the answer in our layout, as NumPy has it in float64."""
        text = NUMBERS[self.library].format(self.expression(asked, name))
        lies = self.call.layout.of(asked.problem)
        if not isinstance(lies, Layout):
            return lies.unpacked(text, LIKE.get(name, ""))
        if lies.axes < 4:
            return f"{text}.reshape{_ours(asked.problem, name)}"
        if lies.first and name in LIKE:
            return f"{text}.transpose({', '.join(map(str, np.argsort(lies.order)))})"
        swapped = lies.swapped and name in LIKE
        return f"{text}.swapaxes(1, 2)" if swapped or self._turned(asked) else text

    def _turned(self, asked: Asked) -> bool:
        """Whether a log-sum-exp comes with its last two axes in the other order."""
        callee = self.callee(asked)
        return asked.function == "lse" and callee is not None and callee[1].signature.turned

    def _is_itself(self, asked: Asked) -> bool:
        """Whether the function itself is called: its gradients are the library's own."""
        callee = self.callee(asked)
        return callee is not None and callee[0] == self.name

    def _derivative(self, forward: str, inputs: Sequence[str], taught: Sequence[str]) -> str:
        """The gradients of <dout, forward> by the inputs, or of all that have a cotangent."""
        names, back = ", ".join(inputs), ", ".join(taught)
        back = back if len(taught) == 1 else f"({back})"
        if self.library == "torch":
            return f"torch.autograd.grad({forward}, [{names}], {back}, materialize_grads=True)"
        return f"jax.vjp(lambda {names}: {forward}, {names})[1]({back})"

    def _array(self, problem: Problem, name: str) -> str:
        """One input as the function takes it."""
        x = self.call.native(problem, name)
        dtype = "bool" if x.dtype == bool else format_of(problem, name)
        memory = memory_of(problem, name, self.call.layout.of(problem), x)
        if memory == "contiguous" or self.library == "jax":
            return self._plain(x, dtype)
        return self._view(laid_out(x, memory), dtype)

    def _plain(self, x: Array, dtype: str) -> str:
        """An array of the library with the numbers of `x`."""
        return array_of(self.library, x, dtype, self.call.library.device)

    def _view(self, laid: Laid, dtype: str) -> str:
        """A view of a buffer: its shape, its strides and its offset."""
        buffer = self._plain(laid.buffer, dtype)
        if laid.strides is None:
            return f"{buffer}.reshape({laid.shape})"
        if self.library == "torch":
            return f"{buffer}.as_strided({laid.shape}, {laid.strides}, {laid.offset})"
        size = np.dtype(dtype).itemsize
        steps = tuple(size * step for step in laid.strides)
        return f"np.ndarray({laid.shape}, np.{dtype}, {buffer}, {laid.offset * size}, {steps})"


def cotangents(problem: Problem) -> list[str]:
    """The names of those that a problem has."""
    return ["dout", *(["dlse"] if problem.dlse is not None else [])]


def _ours(problem: Problem, name: str) -> tuple[int, ...]:
    """The shape of an array of an answer, as we have it."""
    scores = (problem.B, problem.H, problem.N, problem.M)
    shapes: dict[str, tuple[int, ...]] = {"a": scores, "lse": scores[:3], "o": problem.dout.shape}
    return shapes[name] if name in shapes else getattr(problem, name.removeprefix("d")).shape


def _options(call: Wrapped, problem: Problem) -> dict[str, Any]:
    """The options of a call; of one that is an array, the name that it has in a script."""
    names = (*(option.name for option in ARRAYS), *call.given(problem))
    given = {name: _called(call, name) for name in names}
    return call.signature.keywords(problem, {**given, **call.counts(problem)})


def _called(call: Wrapped, name: str) -> str:
    """The name of an array in a script: the function's where it is told something else."""
    called = call.signature.options.get(name, "")
    return called if any(called in p.own for p in ARRAYS if p.name == name) else name


def _arguments(call: Wrapped, options: Mapping[str, Any], arrays: list[str]) -> str:
    ordered, named = call.signature.arranged(arrays)
    words = {name: x if isinstance(x, str) else repr(x) for name, x in options.items()}
    return ", ".join([*ordered, *(f"{n}={x}" for n, x in {**named, **words}.items())])
