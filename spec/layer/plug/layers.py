"""A class that is called like `torch.nn.MultiheadAttention`, seen as functions of a problem.

    layer = Class(embed_dim, num_heads, bias=..., kdim=..., vdim=..., batch_first=True)
    layer.load_state_dict(state)
    out, weights = layer(query, key, value, key_padding_mask=..., need_weights=...,
                         attn_mask=..., average_attn_weights=..., is_causal=...)

or otherwise, as a description says (`described`). A capability for which neither the
constructor nor the call has a parameter is not supported.
Gradients are torch's own, or those of `backward` (see `numpy`). Every problem gets an
object of its own. Evaluation runs without autograd, which is where torch takes its fast path.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from spec.backends import calling
from spec.backends.library import Elsewhere, Library, Unsuitable
from spec.backends.results import WrongArray, refusing, words
from spec.comparison import Violation
from spec.layer.notation import LayerGradients, LayerProblem, Parameters
from spec.layer.plug.arrays import LayerArrays
from spec.layer.plug.described import Description
from spec.layer.plug.elsewhere import Layers
from spec.layer.plug.guessing import instead
from spec.layer.plug.instances import answered, call_of, called, checked, copied
from spec.layer.plug.kin import built
from spec.layer.plug.options import asking, flags, forms, kinds, making, masks, shapes
from spec.layer.state import mismatch, state_of
from spec.notation import Array, Call
from spec.subject import Refused


@dataclass(frozen=True)
class WrappedLayer:
    """A class of layers, the library whose arrays it takes, and what True says in its masks.

    told: the other facts about it, where they differ from torch's. instance: the object to test, if
    the target is a layer that is built already; every problem is given a copy of it.
    """

    build: Callable[..., Any]
    library: Library
    true_attends: bool = False
    told: Description = field(default_factory=Description)
    instance: Any = None

    # What it takes

    @cached_property
    def of_layers(self) -> Any:
        """The functions of the library for layers."""
        if isinstance(self.build, Elsewhere):
            return Layers(self.build, self.library, self.told.in_full)
        return importlib.import_module(f"{__package__}.{self.library.name}")

    @cached_property
    def options(self) -> calling.Parameters:
        """The parameters of the constructor."""
        return {} if self.instance is not None else calling.told(self.build) or {}

    @cached_property
    def takes(self) -> calling.Parameters:
        """The parameters of a call, the layer itself among them."""
        written = getattr(self.build, "forward", None) or call_of(self.build)
        return calling.told(written) or {}

    @property
    def unused(self) -> tuple[str, ...]:
        """The parameters that neither what makes it nor any call passes."""
        made = calling.unused(self.build, self.options, making(self.options))
        called = calling.unused(None, self.takes, asking(self.takes, self.told))
        settled = self.told.make or self.instance is not None
        return (*(() if settled else made), *called)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of problem that there are parameters for. Raises Unsuitable."""
        found = kinds(self.options, self.takes, self.told)
        if self.instance is None:
            return found
        try:
            state = self._state(self.instance)
        except Exception:  # it is tried as a layer of other libraries, too
            name = type(self.instance).__name__
            raise Unsuitable(f"{name} is no layer of {self.library.name}") from None
        return answered(found, state, self.told.names)

    # What it is asked

    def forward(self, problem: LayerProblem) -> Array:
        """y (B, N, A). Raises Violation or Refused."""
        return self.sequence((problem,))[0]

    def sequence(self, problems: tuple[LayerProblem, ...]) -> tuple[Array, ...]:
        """The outputs of one object, in the mode and with the options of each problem."""
        with self.library.quiet(problems[0].dtype):
            layer, found = self._loaded(problems[0]), []
            for problem in problems:
                out, _ = self._called(layer, problem, self._arrays(problem).inputs())
                found.append(self._arrays(problem).read(out, "dout", "the output"))
            return tuple(found)

    def weights(self, problem: LayerProblem) -> Array:
        """The weights of every head (B, H, N, M), or their mean (B, N, M)."""
        with self.library.quiet(problem.dtype):
            _, a = self._called(self._loaded(problem), problem, self._arrays(problem).inputs())
            return self._arrays(problem).read_weights(a)

    def backward(self, problem: LayerProblem) -> LayerGradients:
        """The gradients of <dout, y> by inputs and parameters."""
        with self.library.quiet(problem.dtype):
            with refusing():
                of_inputs, named = self.of_layers.gradients(*self._prepared(problem))
            arrays = self._arrays(problem)
            pairs = zip(problem.distinct, of_inputs, strict=True)
            by_input = {name: arrays.read(x, name, f"d{name}") for name, x in pairs}
            return LayerGradients(by_input, arrays.read_parameters(named, "the gradient of "))

    def step(self, problem: LayerProblem, rate: float) -> Parameters:
        """The parameters after one step of gradient descent."""
        with self.library.quiet(problem.dtype), refusing():
            layer, *rest = self._prepared(problem)
            self.of_layers.step(layer, *rest, rate)
            return self._arrays(problem).read_parameters(self._state(layer))

    def state(self, problem: LayerProblem) -> Parameters:
        """The parameters that come back once they have been loaded."""
        with self.library.quiet(problem.dtype):
            layer = self._loaded(problem)
            return self._arrays(problem).read_parameters(self._state(layer))

    def watched(self, problem: LayerProblem) -> Call:
        """The forward pass, and what it did to its inputs, its parameters and their memory."""
        with self.library.quiet(problem.dtype):
            layer, arrays = self._loaded(problem), self._arrays(problem)
            told = {name: arrays.of(x, name) for name, x in self.masks(problem).values()}
            placed = {**{name: arrays.field(name) for name in problem.distinct}, **told}
            watched = {**placed, **self._state(layer)}
            before = {name: self.library.copied(x) for name, x in watched.items()}
            inputs = [placed[name] for name in problem.given]
            out, _ = self._called(layer, problem, inputs, placed=placed)
            after = {**placed, **self._state(layer)}
            same, overlap = self.library.same, self.library.overlap
            return Call(
                out=arrays.read(out, "dout", "the output"),
                dtype=self.library.dtype_of(out) or "",
                changed=tuple(n for n, x in after.items() if not same(x, before[n])),
                aliased=tuple(n for n, x in watched.items() if overlap(out, x)),
            )

    def loaded(self, problem: LayerProblem) -> dict[str, Array]:
        """The parameters of a layer for the problem, by name, as the layer has them."""
        return {x: self.library.get(y) for x, y in self._state(self._loaded(problem)).items()}

    # How

    def _loaded(self, problem: LayerProblem) -> Any:
        """A new layer with the parameters of the problem."""
        with refusing():
            build, dtype = partial(self.made, problem), problem.dtype
            layer = self.of_layers.made(build, dtype, self.library.device)
            self.of_layers.known(self, layer, problem)
            want = state_of(problem.parameters, self.told.in_full, problem.D)
            there = {name: tuple(x.shape) for name, x in self._state(layer).items()}
            if not self.told.of_torch:  # a bias that is there all the same does nothing
                left = [n for n in self.told.in_full if n in there and n not in want]
                want |= {name: np.zeros(there[name]) for name in left}
            sizes = {name: x.shape for name, x in want.items()}
            if mismatch(there, sizes, ""):
                whose = "state_dict" if hasattr(layer, "state_dict") else "the layer"
                wrong = mismatch(there, sizes, whose)
                raise WrongArray(instead(self, layer, there, problem, wrong))
            put = self._arrays(problem).put
            self.of_layers.load(layer, {name: put(x) for name, x in want.items()})
        return layer

    def _state(self, layer: Any) -> dict[str, Any]:
        """The parameters of a layer, under the names that are described."""
        found: dict[str, Any] = self.of_layers.state(layer, self.told.in_full)
        return found

    def made(self, problem: LayerProblem) -> Any:
        """A layer as it is made, with an output projection added if it has none."""
        if self.instance is not None:
            layer = copied(self.instance, problem)
        elif self.told.make:
            layer = checked(self.told.made(problem), self.build)
        else:
            layer = built(self, problem)
        if self.told.complete:
            return layer
        return self.of_layers.Completed(layer, problem.A, "b_o" in problem.biases)

    def _prepared(self, problem: LayerProblem) -> tuple[Any, Callable[..., Any], list[Any], Any]:
        """A layer, its output as a function of the inputs, these, each array once, and dout."""
        layer, arrays = self._loaded(problem), self._arrays(problem)

        def run(*distinct: Any) -> Any:
            inputs = arrays.handed_over(distinct)
            return self._called(layer, problem, inputs, differentiated=True)[0]

        return layer, run, arrays.distinct(), arrays.field("dout")

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
        options = self.told.told(problem, arrays[0]) | self._options(problem, placed or {})
        if problem.arrays > self.told.inputs:
            raise Refused("it takes one input")
        masked = partial(shapes, problem, self.masks(problem), options)
        with refusing(masked), self.of_layers.mode(differentiated or problem.training):
            self.of_layers.train(layer, problem.training)
            result = called(layer)(*arrays[: self.told.inputs], **options)
        if not isinstance(result, tuple):
            return result, None
        if not self.told.of_torch and result and "need_weights" not in self.takes:
            return result[0], None  # what else it returns, nobody has asked for
        if len(result) != 2:
            raise Violation(f"the layer returned {words(result)}, want (output, weights)")
        return result[0], result[1]

    def _options(self, problem: LayerProblem, placed: Mapping[str, Any]) -> dict[str, Any]:
        """What the call is told beside its inputs, as far as it has to be."""
        found, arrays = flags(problem, self.takes), self._arrays(problem)
        found |= dict.fromkeys(self.told.masks)
        for word, (name, x) in self.masks(problem).items():
            found[word] = placed[name] if name in placed else arrays.of(x, name)
        return found

    def masks(self, problem: LayerProblem) -> dict[str, tuple[str, Array]]:
        """The masks of a call by name, each with the field of the problem that it stands for."""
        if self.told.masks:
            return forms(problem, self.told.masks)
        return masks(problem, self.takes, true_attends=self.true_attends)

    def _arrays(self, problem: LayerProblem) -> LayerArrays:
        return LayerArrays(self.library, problem, self.told.in_full)
