"""A layer as the lines of a script: built as described, with the parameters of a problem."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spec.layer.notation import INPUTS, LayerProblem
from spec.layer.plug.described import Description
from spec.layer.plug.expressions import Expression, taken
from spec.layer.plug.layers import WrappedLayer
from spec.layer.plug.options import constructed
from spec.layer.state import state_of
from spec.notation import Array
from spec.subject import named
from spec.written import IMPORTS, array_of, imported

LIBRARIES = {"np": "numpy", "torch": "torch"}  # what every script of a layer of torch imports
USED = (*INPUTS, "layer", "project", "dout", "out", "got", "want", "within", "x", "copy", "sys")
INNER, OUTPUT = "inner.", "output."  # the names of a layer whose output is projected once more


def writable(wrapped: WrappedLayer, origin: str) -> bool:
    """Whether a script can build the layer of torch: from its class, or as a file describes it."""
    told = wrapped.told
    if wrapped.library.name != "torch":
        return False
    if told == Description() and wrapped.instance is None:
        return True
    made = [*([told.make] if told.make else []), *told.given.values()]
    if not all(isinstance(x, Expression) for x in made):
        return False
    place, _, name = origin.rpartition(":")
    others = {x for x in names(told) if x != name and not _is_library(place, x)}
    return not others & {*USED, *LIBRARIES} and all(_there(place, x) for x in others)


def names(told: Description) -> Iterator[str]:
    """The names that a description takes from the module of the layer."""
    for x in (told.make, *told.given.values()):
        if isinstance(x, Expression):
            yield from x.names


def _there(place: str, name: str) -> bool:
    return named(f"{place}:{name}") is not None


def _is_library(place: str, name: str) -> bool:
    return name in LIBRARIES and named(f"{place}:{name}") is sys.modules.get(LIBRARIES[name])


@dataclass(frozen=True)
class Making:
    """How a layer is built for a problem. origin: how a person imports its class, or itself."""

    wrapped: WrappedLayer
    origin: str
    problem: LayerProblem

    def imports(self) -> list[str]:
        """The lines that import all that it is built from."""
        place, _, name = self.origin.rpartition(":")
        found = dict.fromkeys(names(self.wrapped.told))
        others = [x for x in found if x != name and not _is_library(place, x)]
        lines = imported(self.origin, IMPORTS["torch"])
        copies = ["import copy"] if self.wrapped.instance is not None else []
        more = "".join(f", {x}" for x in others)
        return [*copies, *(f"{x}{more}" if x.startswith("from ") else x for x in lines)]

    def lines(self, compiled: str) -> list[str]:
        """The lines that build it and load its parameters. compiled: in which way, if it is."""
        p, told = self.problem, self.wrapped.told
        return [
            *self._sizes(),
            f"layer = {self._built()}.to(torch.{p.dtype})",
            *self._loaded(),
            *([] if told.complete else self._projecting()),
            f"layer.train({p.training})",
            *[f"layer.compile(dynamic={compiled == 'dynamic'})"] * bool(compiled),
        ]

    def _sizes(self) -> list[str]:
        """The line that gives the sizes which the description names."""
        p, told = self.problem, self.wrapped.told
        known = {letter: getattr(p, letter) for letter in "BNMAHD"}
        known |= {"G": p.key_heads, "bias": bool(p.biases)}
        found: dict[str, Any] = {}
        for function in (told.make, *told.given.values()):
            found |= taken(function, known) if function else {}
        return [f"{', '.join(found)} = {', '.join(map(str, found.values()))}"] if found else []

    def _built(self) -> str:
        p, wrapped, name = self.problem, self.wrapped, self.origin.rpartition(":")[2]
        if wrapped.instance is not None:
            return f"copy.deepcopy({name})"
        if isinstance(wrapped.told.make, Expression):
            text = wrapped.told.make.line
            return text if wrapped.told.make.is_call else f"({text})"
        options = constructed(p, wrapped.options)
        return f"{name}({p.A}, {p.H}{''.join(f', {x}={y}' for x, y in options.items())})"

    def _loaded(self) -> list[str]:
        """The line that loads its parameters; what else it saves stays as it was made."""
        there = state_of(self.problem.parameters)
        if self.wrapped.told == Description():
            return [f"layer.load_state_dict({{{self._written(there)}}})"]
        there = self.wrapped.loaded(self.problem)
        saved = self.wrapped.made(self.problem).state_dict()
        kept = "**layer.state_dict(), " if saved.keys() != there.keys() else ""
        if not self.wrapped.told.complete:
            there = {x.removeprefix(INNER): y for x, y in there.items() if x.startswith(INNER)}
        return [f"layer.load_state_dict({{{kept}{self._written(there)}}})"]

    def _projecting(self) -> list[str]:
        """The lines that make the output projection of a layer that has none."""
        p = self.problem
        there = self.wrapped.loaded(p)
        there = {x.removeprefix(OUTPUT): y for x, y in there.items() if x.startswith(OUTPUT)}
        return [
            f"project = torch.nn.Linear({p.A}, {p.A}, bias={'bias' in there}).to(torch.{p.dtype})",
            f"project.load_state_dict({{{self._written(there)}}})",
        ]

    def parameter(self, name: str) -> str:
        """A parameter, by its name in the layer whose output may be projected once more."""
        if self.wrapped.told.complete:
            return f"layer.get_parameter({name!r})"
        whose = "layer" if name.startswith(INNER) else "project"
        return f"{whose}.get_parameter({name.partition('.')[2]!r})"

    def _written(self, state: dict[str, Array]) -> str:
        return ", ".join(f"{name!r}: {self._array(x)}" for name, x in state.items())

    def _array(self, x: Array) -> str:
        return array_of("torch", x, self.problem.dtype)
