"""A failure of a layer as the lines of a script: built, loaded, called, and held to numbers.

Of the calls that a clause makes, the first whose answer departs from the definition is shown.
A layer of NumPy or torch is called as its user calls it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from spec.backends.calling import behind
from spec.clause import Clause
from spec.comparison import close
from spec.layer.notation import INPUTS, LayerProblem
from spec.layer.plug.described import Description
from spec.layer.plug.layers import WrappedLayer
from spec.layer.plug.options import constructed, flags, masks
from spec.layer.record import Layer
from spec.layer.rounding import Budgets
from spec.layer.state import state_of
from spec.notation import Array
from spec.trial import broken
from spec.written import IMPORTS, NUMBERS, array_of, imported, literal

Said = tuple[str, Array, Array, Array]  # of an array of an answer: its name, got, want, within


def calls(
    clause: Clause, raw: Layer, conventions: Mapping[str, str], problem: LayerProblem
) -> list[str]:
    """The lines of a script; none where no single call departs, or it cannot be written so."""
    wrapped = behind(raw.forward, WrappedLayer)
    declared, usual = {**raw.chosen, **conventions}, raw.defaults
    if wrapped is None or wrapped.told != Description() or wrapped.instance is not None:
        return []
    if any(declared[name] != usual[name] for name in ("mask-means", "fully-masked", "causality")):
        return []
    for name, put, answer in _recorded(clause, raw, problem):
        for what, got, want, within in _said(name, put, answer):
            if got.shape == want.shape and not close(got, want, within):
                written = Script(raw, wrapped, put).showing(what, want, within)
                if written:
                    return written
    return []


def _recorded(
    clause: Clause, raw: Layer, problem: LayerProblem
) -> list[tuple[str, LayerProblem, Any]]:
    """Each call that the clause makes of the layer, in order, with its answer."""
    made: list[tuple[str, LayerProblem, Any]] = []

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def asked(put: Any, *rest: Any) -> Any:
            answer = function(put, *rest)
            if name == "sequence":  # by itself, each may be right: a script makes one call
                made.extend(("forward", p, raw.forward(p)) for p in put)
            else:
                made.append((name, put, answer))
            return answer

        return asked

    broken(clause, raw.through(watched), problem)
    return made


def _said(name: str, problem: LayerProblem, answer: Any) -> Iterator[Said]:
    known = Budgets(problem)
    if name == "forward":
        yield "y", answer, known.y, known.of_output
    elif name == "weights" and problem.asks == "mean":
        yield "weights", answer, known.weights.mean(axis=1), known.of_mean_weights
    elif name == "weights":
        yield "weights", answer, known.weights, known.of_weights
    elif name == "backward":
        three = (answer, known.gradients, known.of_gradients)
        got, want, within = ({**x.inputs, **state_of(x.parameters)} for x in three)
        for x, dx in got.items():
            yield x, dx, want[x], within[x]


class Script:
    """One call of one layer, as text."""

    def __init__(self, raw: Layer, wrapped: WrappedLayer, problem: LayerProblem) -> None:
        self.raw, self.wrapped, self.problem = raw, wrapped, problem
        self.library = wrapped.library.name
        self.name = raw.origin.rpartition(":")[2]

    def showing(self, what: str, want: Array, within: Array) -> list[str]:
        """The script that holds one array of an answer to what it should be."""
        if what not in ("y", "weights") and self.library == "torch" and self._renamed(what):
            return []
        unbatched = not self.problem.batched and what in ("y", "weights", *INPUTS)
        want, within = (np.asarray(x, dtype=float) for x in (want, within))
        if unbatched:
            want, within = want[0], within[0]
        within = np.where(np.isfinite(within), within, np.inf)
        return [
            *imported(self.raw.origin, IMPORTS[self.library]),
            *self._made(),
            *self._called(what),
            f"want = {literal(want)}",
            f"within = {literal(np.broadcast_to(within, want.shape))}",
            'print(f"got {got.tolist()}\\nwant {want.tolist()}\\nwithin {within.tolist()}")',
            "raise SystemExit(not (abs(got - want) <= within).all())",
            "",
        ]

    def _renamed(self, what: str) -> bool:
        """Whether the layer keeps a parameter under another name than it saves it."""
        if what in INPUTS:
            return False
        layer = self.wrapped.build(self.problem.A, self.problem.H)
        return what not in dict(layer.named_parameters())

    def _made(self) -> list[str]:
        """The layer with its parameters."""
        p = self.problem
        options = constructed(p, self.wrapped.options)
        words = "".join(f", {name}={x}" for name, x in options.items())
        placed = f".to(torch.{p.dtype})" if self.library == "torch" else ""
        state = ", ".join(f"{n!r}: {self._array(x)}" for n, x in state_of(p.parameters).items())
        training = [f"layer.train({p.training})"] if hasattr(self.wrapped.build, "train") else []
        return [
            f"layer = {self.name}({p.A}, {p.H}{words}){placed}",
            f"layer.load_state_dict({{{state}}})",
            *training,
            *[f"layer.compile(dynamic={self.raw.compiled == 'dynamic'})"] * bool(self.raw.compiled),
        ]

    def _called(self, what: str) -> list[str]:
        """The call, and what is looked at in its answer, as `got`."""
        p = self.problem
        lines = [f"{name} = {self._array(self._given(name))}" for name in p.distinct]
        found = {name: repr(x) for name, x in flags(p, self.wrapped.takes).items()}
        for word, (name, x) in masks(p, self.wrapped.takes).items():
            found[word] = self._array(x if name == "mask" or p.batched else x[0])
        call = f"layer({', '.join(p.given)}{''.join(f', {n}={x}' for n, x in found.items())})"
        if what not in ("y", "weights"):
            lines.append(f"dout = {self._array(self._given('dout'))}")
        if what in INPUTS and self.library == "torch":
            lines.append(f"{what}.requires_grad_()")
        if self.library == "torch" and what in ("y", "weights") and not p.training:
            lines.append("torch.set_grad_enabled(False)")
        return [*lines, f"out = {call}", *self._looked_at(what)]

    def _looked_at(self, what: str) -> list[str]:
        """What the call answered, or its gradient by an input or a parameter, as `got`."""
        y = "out[0] if isinstance(out, tuple) else out"
        if what == "weights":
            return [self._numbers("out[1]")]
        if what == "y":
            return [f"out = {y}", self._numbers("out")]
        if self.library == "torch":
            by = what if what in INPUTS else f"layer.get_parameter({what!r})"
            gradients = f"torch.autograd.grad(out, {by}, dout, materialize_grads=True)"
            return [f"out = {y}", self._numbers(f"{gradients}[0]")]
        found = "dquery, dkey, dvalue, named = layer.backward(dout)"
        if what not in INPUTS:
            return [found, self._numbers(f"named[{what!r}]")]
        ways = zip(INPUTS, self.problem.given, strict=True)
        return [found, self._numbers(" + ".join(f"d{x}" for x, given in ways if given == what))]

    def _numbers(self, value: str) -> str:
        """What is compared, as NumPy has it in float64."""
        return f"got = {NUMBERS[self.library].format(value)}"

    def _given(self, name: str) -> Array:
        x: Array = getattr(self.problem, name)
        return x if self.problem.batched else x[0]

    def _array(self, x: Array) -> str:
        return array_of(self.library, x, "bool" if x.dtype == bool else self.problem.dtype)
