"""A failure of a layer as the lines of a script: built, loaded, called, and held to numbers.

Of the calls that a clause makes, the first whose answer departs from the definition is shown.
A layer of NumPy or torch is called as its user calls it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from spec.backends.calling import behind
from spec.backends.results import WrongDtype
from spec.clause import Clause
from spec.comparison import close
from spec.layer import moves
from spec.layer.making import Making, writable
from spec.layer.notation import INPUTS, LayerProblem
from spec.layer.plug.conventions import under
from spec.layer.plug.expressions import Expression
from spec.layer.plug.layers import WrappedLayer
from spec.layer.plug.options import flags
from spec.layer.record import Layer
from spec.layer.rounding import Budgets
from spec.layer.state import state_of
from spec.notation import Array
from spec.trial import broken
from spec.written import NUMBERS, array_of, literal

IDLE = ("fully-masked", "fully-masked-bias")
WORDS = {"forward": "y", "weights": "weights"}  # what a script calls an answer
DTYPE = "str({}.dtype)"
Said = tuple[str, Array, Array, Array]  # of an array of an answer: its name, got, want, within


def calls(
    clause: Clause, raw: Layer, conventions: Mapping[str, str], problem: LayerProblem
) -> list[str]:
    """The lines of a script; none where no single call departs, or it cannot be written so.

    Under conventions, the call is the one that the layer gets: without causality where it is
    always causal, and with the opposite of masks where True may attend.
    """
    wrapped, chosen = behind(raw.forward, WrappedLayer), {**raw.chosen, **conventions}
    if wrapped is None or not writable(wrapped, raw.origin):
        return []
    wrapped = replace(wrapped, true_attends=chosen["mask-means"] == "attend")
    record, always = under(raw, conventions), chosen["causality"] == "always"
    settled = all(chosen[name] == raw.defaults[name] for name in IDLE)
    for name, put, answer in _recorded(clause, record, problem):
        if not settled and moves.idle(put).any():
            continue  # what its rows should be is not what the definition says
        called = put.but(causal=False) if always else put
        if isinstance(answer, WrongDtype):
            return Script(raw, wrapped, called, DTYPE).showing_the_dtype(WORDS[name], answer)
        for what, got, want, within in _said(wrapped, name, put, answer):
            if got.shape == want.shape and not close(got, want, within):
                written = Script(raw, wrapped, called).showing(what, want, within)
                if written:
                    return written
    return []


def _recorded(
    clause: Clause, record: Layer, problem: LayerProblem
) -> list[tuple[str, LayerProblem, Any]]:
    """Each call that the clause makes of the layer, in order, with its answer."""
    made: list[tuple[str, LayerProblem, Any]] = []

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def asked(put: Any, *rest: Any) -> Any:
            try:
                answer = function(put, *rest)
            except WrongDtype as error:
                if name in WORDS:
                    made.append((name, put, error))
                raise
            if name == "sequence":  # by itself, each may be right: a script makes one call
                made.extend(("forward", p, record.forward(p)) for p in put)
            else:
                made.append((name, put, answer))
            return answer

        return asked

    broken(clause, record.through(watched), problem)
    return made


def _said(wrapped: WrappedLayer, name: str, problem: LayerProblem, answer: Any) -> Iterator[Said]:
    known, names = Budgets(problem), wrapped.told.in_full
    if name == "forward":
        yield "y", answer, known.y, known.of_output
    elif name == "weights" and problem.asks == "mean":
        yield "weights", answer, known.weights.mean(axis=1), known.of_mean_weights
    elif name == "weights":
        yield "weights", answer, known.weights, known.of_weights
    elif name == "backward":
        three = (answer, known.gradients, known.of_gradients)
        got, want, within = (
            {**x.inputs, **state_of(x.parameters, names, problem.D)} for x in three
        )
        for x, dx in got.items():
            yield x, dx, want[x], within[x]


class Script:
    """One call of one layer, as text.

    shown: what is looked at of an array; by default its numbers.
    """

    def __init__(
        self, raw: Layer, wrapped: WrappedLayer, problem: LayerProblem, shown: str = ""
    ) -> None:
        self.raw, self.wrapped, self.problem = raw, wrapped, problem
        self.library = wrapped.library.name
        self.shown = shown or NUMBERS[self.library]
        self.making = Making(wrapped, raw.origin, problem)

    def showing(self, what: str, want: Array, within: Array) -> list[str]:
        """The script that holds one array of an answer to what it should be."""
        if what not in ("y", "weights") and self.library == "torch" and self._renamed(what):
            return []
        if what == "weights" and not self.wrapped.told.complete:
            return []
        unbatched = not self.problem.batched and what in ("y", "weights", *INPUTS)
        want, within = (np.asarray(x, dtype=float) for x in (want, within))
        if unbatched:
            want, within = want[0], within[0]
        within = np.where(np.isfinite(within), within, np.inf)
        return [
            *self.making.imports(),
            *self.making.lines(self.raw.compiled),
            *self._called(what),
            f"want = {literal(want)}",
            f"within = {literal(np.broadcast_to(within, want.shape))}",
            'print(f"got {got.tolist()}\\nwant {want.tolist()}\\nwithin {within.tolist()}")',
            "raise SystemExit(not (abs(got - want) <= within).all())",
            "",
        ]

    def showing_the_dtype(self, what: str, answer: WrongDtype) -> list[str]:
        """The script that holds the dtype of an answer to the one that was wanted."""
        if what == "weights" and not self.wrapped.told.complete:
            return []
        return [
            *self.making.imports(),
            *self.making.lines(self.raw.compiled),
            *self._called(what),
            f"want = {'torch.' * (self.library == 'torch') + answer.want!r}",
            'print(f"got {got}\\nwant {want}")',
            "raise SystemExit(got != want)",
            "",
        ]

    def _renamed(self, what: str) -> bool:
        """Whether the layer keeps a parameter under another name than it saves it."""
        if what in INPUTS:
            return False
        return what not in dict(self.wrapped.made(self.problem).named_parameters())

    def _called(self, what: str) -> list[str]:
        """The call, and what is looked at in its answer, as `got`."""
        p, told = self.problem, self.wrapped.told
        inputs = p.given[: told.inputs]
        lines = [f"{name} = {self._array(self._given(name))}" for name in p.distinct]
        if any("x" in signature(function).parameters for function in told.given.values()):
            lines.append(f"x = {inputs[0]}")
        words = "".join(f", {name}={x}" for name, x in self._options().items())
        if what not in ("y", "weights"):
            lines.append(f"dout = {self._array(self._given('dout'))}")
        if what in INPUTS and self.library == "torch":
            lines.append(f"{what}.requires_grad_()")
        if self.library == "torch" and what in ("y", "weights") and not p.training:
            lines.append("torch.set_grad_enabled(False)")
        return [*lines, f"out = layer({', '.join(inputs)}{words})", *self._looked_at(what)]

    def _options(self) -> dict[str, str]:
        """The options of the call, by name: what is given, flags and masks."""
        p, told = self.problem, self.wrapped.told
        given = told.given.items()
        found = {name: x.line for name, x in given if isinstance(x, Expression)}
        found |= {name: repr(x) for name, x in flags(p, self.wrapped.takes).items()}
        found |= dict.fromkeys(told.masks, "None")
        for word, (name, x) in self.wrapped.masks(p).items():
            found[word] = self._array(x if name == "mask" or p.batched else x[0])
        return found

    def _looked_at(self, what: str) -> list[str]:
        """What the call answered, or its gradient by an input or a parameter, as `got`."""
        y = "out[0] if isinstance(out, tuple) else out"
        y = y if self.wrapped.told.complete else f"project({y})"
        if what == "weights":
            return [self._numbers("out[1]")]
        if what == "y":
            return [f"out = {y}", self._numbers("out")]
        if self.library == "torch":
            by = what if what in INPUTS else self.making.parameter(what)
            gradients = f"torch.autograd.grad(out, {by}, dout, materialize_grads=True)"
            return [f"out = {y}", self._numbers(f"{gradients}[0]")]
        found = "dquery, dkey, dvalue, named = layer.backward(dout)"
        if what not in INPUTS:
            return [found, self._numbers(f"named[{what!r}]")]
        ways = zip(INPUTS, self.problem.given, strict=True)
        return [found, self._numbers(" + ".join(f"d{x}" for x, given in ways if given == what))]

    def _numbers(self, value: str) -> str:
        """What is compared of an array: its dtype, or its numbers as NumPy has them in float64."""
        return f"got = {self.shown.format(value)}"

    def _given(self, name: str) -> Array:
        x: Array = getattr(self.problem, name)
        return x if self.problem.batched else x[0]

    def _array(self, x: Array) -> str:
        return array_of(self.library, x, "bool" if x.dtype == bool else self.problem.dtype)
