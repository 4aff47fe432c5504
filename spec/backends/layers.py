"""A class that is called like `torch.nn.MultiheadAttention`, seen as functions of a problem.

    layer = Class(embed_dim, num_heads, bias=..., kdim=..., vdim=..., batch_first=True)
    layer.load_state_dict(state)
    out, weights = layer(query, key, value, key_padding_mask=..., need_weights=...,
                         attn_mask=..., average_attn_weights=..., is_causal=...)

What the constructor or the call has no parameter for is a capability that is not offered.
Gradients are torch's own, or those of `backward` (see `numpy_layers`). Every problem gets an
object of its own. Evaluation runs without autograd, which is where torch takes its fast path.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from spec.backends.layer_options import flags, masks
from spec.backends.library import Library
from spec.backends.memory import laid_out
from spec.backends.results import WrongArray, check, numbers, refusing, words
from spec.clause import Violation
from spec.implementation import Capability
from spec.layer.notation import LayerGradients, LayerProblem, Parameters
from spec.layer.state import mismatch, parameters_of, state_of
from spec.notation import Array, Call

INPUTS = ("query", "key", "value")


@dataclass(frozen=True)
class WrappedLayer:
    """A class of layers, and the library whose arrays it takes."""

    build: Callable[..., Any]
    library: Library

    # What it takes

    @cached_property
    def of_layers(self) -> ModuleType:
        """What the library does with layers."""
        return importlib.import_module(f"spec.backends.{self.library.name}_layers")

    @cached_property
    def options(self) -> frozenset[str]:
        """The parameters of the constructor."""
        return _parameters(self.build)

    @cached_property
    def takes(self) -> frozenset[str]:
        """The parameters of a call."""
        written = getattr(self.build, "forward", None)
        return _parameters(written or inspect.getattr_static(self.build, "__call__", None))

    @property
    def kinds(self) -> frozenset[Capability]:
        """The kinds of problem that there are parameters for."""
        wanted = {
            Capability.MASK: "attn_mask" in self.takes,
            Capability.BIAS: "attn_mask" in self.takes,
            Capability.HEAD_MASK: "attn_mask" in self.takes,
            Capability.CAUSAL: bool({"attn_mask", "is_causal"} & self.takes),
            Capability.PADDING: "key_padding_mask" in self.takes,
            Capability.WIDTHS: {"kdim", "vdim"} <= self.options,
            Capability.UNBIASED: "bias" in self.options,
            Capability.UNBATCHED: True,
        }
        return frozenset(kind for kind, there in wanted.items() if there)

    # What it is asked

    def forward(self, problem: LayerProblem) -> Array:
        """y (B, N, A). Raises Violation or Refused."""
        return self.sequence((problem,))[0]

    def sequence(self, problems: tuple[LayerProblem, ...]) -> tuple[Array, ...]:
        """The outputs of one object, in the mode and with the options of each problem."""
        with self._running(problems[0]):
            layer, found = self._loaded(problems[0]), []
            for problem in problems:
                if hasattr(layer, "train"):
                    layer.train(problem.training)
                out, _ = self._called(layer, problem, self._arrays(problem))
                found.append(self._read(out, problem, "dout", "the output"))
            return tuple(found)

    def weights(self, problem: LayerProblem) -> Array:
        """The weights of every head (B, H, N, M), or their mean (B, N, M)."""
        with self._running(problem):
            _, a = self._called(self._loaded(problem), problem, self._arrays(problem))
            B, H, N, M = problem.B, problem.H, problem.N, problem.M
            shape: tuple[int, ...] = (B, N, M) if problem.asks == "mean" else (B, H, N, M)
            check(
                self.library,
                a,
                shape if problem.batched else shape[1:],
                problem.dtype,
                "what is returned as weights",
            )
            return _batched(numbers(self.library, a), problem)

    def backward(self, problem: LayerProblem) -> LayerGradients:
        """The gradients of <dout, y> by inputs and parameters."""
        with self._running(problem):
            layer, run = self._prepared(problem)
            arrays, dout = self._distinct(problem), self._array(problem, "dout")
            with refusing():
                of_inputs, named = self.of_layers.gradients(layer, run, arrays, dout)
            by_input = {
                name: self._read(x, problem, name, f"d{name}")
                for x, name in zip(of_inputs, INPUTS, strict=False)
            }
            return LayerGradients(
                by_input["query"],
                by_input.get("key"),
                by_input.get("value"),
                self._parameters(named, problem, "the gradient of "),
            )

    def step(self, problem: LayerProblem, rate: float) -> Parameters:
        """The parameters after one step of gradient descent."""
        with self._running(problem):
            layer, run = self._prepared(problem)
            with refusing():
                arrays, dout = self._distinct(problem), self._array(problem, "dout")
                self.of_layers.step(layer, run, arrays, dout, rate)
                return self._parameters(self.of_layers.state(layer), problem)

    def state(self, problem: LayerProblem) -> Parameters:
        """The parameters that come back once they have been loaded."""
        with self._running(problem):
            layer = self._loaded(problem)
            return self._parameters(self.of_layers.state(layer), problem)

    def watched(self, problem: LayerProblem) -> Call:
        """The forward pass, and what it did to its inputs, its parameters and their memory."""
        with self._running(problem):
            layer, names = self._loaded(problem), ("query", "key", "value", "padding", "mask")
            placed = {n: self._array(problem, n) for n in names if getattr(problem, n) is not None}
            watched = {**placed, **self.of_layers.state(layer)}
            before = {name: self.library.copied(x) for name, x in watched.items()}
            arrays = [placed["query" if problem.oneself else name] for name in INPUTS]
            out, _ = self._called(layer, problem, arrays, placed=placed)
            after = {**placed, **self.of_layers.state(layer)}
            same, overlap = self.library.same, self.library.overlap
            return Call(
                out=self._read(out, problem, "dout", "the output"),
                dtype=self.library.dtype_of(out) or "",
                changed=tuple(n for n, x in after.items() if not same(x, before[n])),
                aliased=tuple(n for n, x in watched.items() if overlap(out, x)),
            )

    # How

    def _loaded(self, problem: LayerProblem) -> Any:
        """A new layer with the parameters of the problem."""
        options: dict[str, Any] = {"batch_first": True} if "batch_first" in self.options else {}
        if not problem.biased:
            options["bias"] = False
        if problem.own_widths:
            options |= {"kdim": problem.key.shape[2], "vdim": problem.value.shape[2]}
        with refusing():
            layer = self.of_layers.made(
                lambda: self.build(problem.A, problem.H, **options),
                problem.dtype,
                self.library.device,
            )
            want = state_of(problem.parameters)
            there = {name: tuple(x.shape) for name, x in self.of_layers.state(layer).items()}
            wrong = mismatch(there, {name: x.shape for name, x in want.items()})
            if wrong:
                raise WrongArray(wrong)
            self.of_layers.load(layer, {n: self._put(x, problem) for n, x in want.items()})
            if hasattr(layer, "train"):
                layer.train(problem.training)
        return layer

    def _prepared(self, problem: LayerProblem) -> tuple[Any, Callable[..., Any]]:
        """A layer, and its output as a function of the inputs that are not one array."""
        layer = self._loaded(problem)

        def run(*arrays: Any) -> Any:
            three = list(arrays) * (3 if problem.oneself else 1)
            return self._called(layer, problem, three, differentiated=True)[0]

        return layer, run

    def _distinct(self, problem: LayerProblem) -> list[Any]:
        names = INPUTS[:1] if problem.oneself else INPUTS
        return [self._array(problem, name) for name in names]

    def _arrays(self, problem: LayerProblem) -> list[Any]:
        distinct = self._distinct(problem)
        return distinct * 3 if problem.oneself else distinct

    def _called(
        self,
        layer: Any,
        problem: LayerProblem,
        arrays: list[Any],
        *,
        placed: Mapping[str, Any] | None = None,
        differentiated: bool = False,
    ) -> tuple[Any, Any]:
        """The output and the weights, as the layer returns them."""
        options = self._options(problem, placed or {})
        with refusing(), self.of_layers.mode(differentiated or problem.training):
            result = layer(*arrays, **options)
        if not isinstance(result, tuple):
            return result, None
        if len(result) != 2:
            raise Violation(f"the layer returned {words(result)}, want (output, weights)")
        return result[0], result[1]

    def _options(self, problem: LayerProblem, placed: Mapping[str, Any]) -> dict[str, Any]:
        """What the call is told beside its inputs, as far as it has to be."""
        found = flags(problem, self.takes)
        for word, (name, x) in masks(problem, self.takes).items():
            same = x is getattr(problem, name) and name in placed
            found[word] = placed[name] if same else self._array_of(x, problem, name)
        return found

    def _array(self, problem: LayerProblem, name: str) -> Any:
        return self._array_of(getattr(problem, name), problem, name)

    def _array_of(self, x: Array, problem: LayerProblem, name: str) -> Any:
        """An array as the call takes it, without a batch axis where the problem has none."""
        if not problem.batched and name != "mask":
            x = x[0]
        return self._put(x, problem)

    def _put(self, x: Array, problem: LayerProblem) -> Any:
        return self.library.put(laid_out(x, "contiguous"), problem.dtype)[1]

    def _read(self, result: Any, problem: LayerProblem, name: str, what: str) -> Array:
        """The numbers of a result that is shaped like a field of the problem."""
        shape = getattr(problem, name).shape
        shape = shape if problem.batched else shape[1:]
        check(self.library, result, shape, problem.dtype, what)
        return _batched(numbers(self.library, result), problem)

    def _parameters(
        self, named: Mapping[str, Any], problem: LayerProblem, what: str = ""
    ) -> Parameters:
        """Parameters, or what is shaped like them, from under torch's names."""
        want = {name: x.shape for name, x in state_of(problem.parameters).items()}
        for name, shape in want.items():
            if name not in named:
                raise Violation(f"there is no {what}{name}")
            check(self.library, named[name], shape, problem.dtype, what + name)
        return parameters_of({name: numbers(self.library, named[name]) for name in want})

    @contextmanager
    def _running(self, problem: LayerProblem) -> Iterator[None]:
        """The library's context; the implementation's warnings are its own affair."""
        with warnings.catch_warnings(), self.library.running(problem.dtype):
            warnings.simplefilter("ignore")
            yield


def _batched(x: Array, problem: LayerProblem) -> Array:
    return x if problem.batched else x[None]


def _parameters(function: Any) -> frozenset[str]:
    """The names of a callable's parameters; none if it does not tell."""
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return frozenset()
