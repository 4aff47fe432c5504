"""A failure of a layer of torch as the lines of a script: built, loaded, called, and compared.

Of the calls that a clause makes, the first whose answer departs from the definition is shown. The
script of another layer is that of any object. But torch calls a layer in ways of its own, and asks
others for its gradients; and one with a description is built as that says.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from spec.backends.calling import behind
from spec.backends.results import WrongDtype
from spec.backends.texts import comparing
from spec.clause import Clause
from spec.comparison import Violation, close
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
from spec.subject import Refused
from spec.trial import asked
from spec.written import NUMBERS, array_of

IDLE = ("fully-masked", "fully-masked-bias")
WORDS = {"forward": "y", "weights": "weights"}  # what a script calls an answer
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
    for asked_for, put, rest in asked(clause, record, problem):
        if not settled and moves.idle(put).any():
            continue  # what its rows should be is not what the definition says
        # In a sequence, each call may be right by itself: a script makes one.
        name = "forward" if asked_for == "sequence" else asked_for
        written = Script(raw, wrapped, put.but(causal=False) if always else put)
        try:
            answer = getattr(record, name)(put, *rest)
        except WrongDtype as error:
            return written.showing_the_dtype(WORDS[name], error) if name in WORDS else []
        except (Violation, Refused):
            continue
        for what, got, want, within in _said(wrapped, name, put, answer):
            wrong = got.shape == want.shape and not close(got, want, within)
            if lines := written.showing(what, want, within) if wrong else []:
                return lines
    return []


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
    """One call of one layer, as text."""

    def __init__(self, raw: Layer, wrapped: WrappedLayer, problem: LayerProblem) -> None:
        self.raw, self.wrapped, self.problem = raw, wrapped, problem
        self.making = Making(wrapped, raw.origin, problem)

    def showing(self, what: str, want: Array, within: Array) -> list[str]:
        """The script that holds one array of an answer to what it should be."""
        if what not in ("y", "weights") and self._renamed(what):
            return []
        if what == "weights" and not self.wrapped.told.complete:
            return []
        unbatched = not self.problem.batched and what in ("y", "weights", *INPUTS)
        want, within = (np.asarray(x, dtype=float) for x in (want, within))
        if unbatched:
            want, within = want[0], within[0]
        within = np.where(np.isfinite(within), within, np.inf)
        *lines, value = self._called(what)
        return [
            *self.making.imports(),
            *self.making.lines(self.raw.compiled),
            *lines,
            *comparing(NUMBERS["torch"].format(value), want, np.broadcast_to(within, want.shape)),
        ]

    def showing_the_dtype(self, what: str, answer: WrongDtype) -> list[str]:
        """The script that holds the dtype of an answer to the one that was wanted."""
        if what == "weights" and not self.wrapped.told.complete:
            return []
        *lines, value = self._called(what)
        return [
            *self.making.imports(),
            *self.making.lines(self.raw.compiled),
            *lines,
            f"got = str({value}.dtype)",
            f"want = {f'torch.{answer.want}'!r}",
            'print(f"got {got}\\nwant {want}")',
            "raise SystemExit(got != want)",
        ]

    def _renamed(self, what: str) -> bool:
        """Whether the layer keeps a parameter under another name than it saves it."""
        if what in INPUTS:
            return False
        return what not in dict(self.wrapped.made(self.problem).named_parameters())

    def _called(self, what: str) -> list[str]:
        """The lines of the call, and what is looked at in its answer."""
        p, told = self.problem, self.wrapped.told
        inputs = p.given[: told.inputs]
        lines = [f"{name} = {self._array(self._given(name))}" for name in p.distinct]
        if any("x" in signature(function).parameters for function in told.given.values()):
            lines.append(f"x = {inputs[0]}")
        words = "".join(f", {name}={x}" for name, x in self._options().items())
        if what not in ("y", "weights"):
            lines.append(f"dout = {self._array(self._given('dout'))}")
        if what in INPUTS:
            lines.append(f"{what}.requires_grad_()")
        if what in ("y", "weights") and not p.training:
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
        """What the call answered, or its gradient by an input or a parameter."""
        if what == "weights":
            return ["out[1]"]
        y = "out[0] if isinstance(out, tuple) else out"
        y = f"out = {y if self.wrapped.told.complete else f'project({y})'}"
        if what == "y":
            return [y, "out"]
        by = what if what in INPUTS else self.making.parameter(what)
        return [y, f"torch.autograd.grad(out, {by}, dout, materialize_grads=True)[0]"]

    def _given(self, name: str) -> Array:
        x: Array = getattr(self.problem, name)
        return x if self.problem.batched else x[0]

    def _array(self, x: Array) -> str:
        return array_of("torch", x, "bool" if x.dtype == bool else self.problem.dtype)
