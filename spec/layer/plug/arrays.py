"""The arrays of a layer problem: put where the layer takes them, and read when they come back.

Inputs that the problem says are one array are put once, so a layer is given the same object
for all of them. Where the problem has no batch axis, neither have the arrays that are put; the
numbers that are read always have one. Parameters go by the layer's names on both ways.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spec.backends.library import Library
from spec.backends.results import check, numbers, read
from spec.comparison import Violation
from spec.layer.notation import LayerProblem, Parameters
from spec.layer.state import Names, parameters_of, state_of
from spec.notation import Array


@dataclass(frozen=True)
class LayerArrays:
    """The arrays of one problem in one library."""

    library: Library
    problem: LayerProblem
    names: Names

    # There

    def distinct(self) -> list[Any]:
        """The inputs, each array once."""
        return [self.field(name) for name in self.problem.distinct]

    def inputs(self) -> list[Any]:
        """Query, key and value as the call takes them; one object where they are one array."""
        return self.handed_over(self.distinct())

    def handed_over(self, distinct: Iterable[Any]) -> list[Any]:
        """Query, key and value, of arrays of which each is there once."""
        named = dict(zip(self.problem.distinct, distinct, strict=True))
        return [named[name] for name in self.problem.given]

    def field(self, name: str) -> Any:
        """A field of the problem as the call takes it."""
        return self.of(getattr(self.problem, name), name)

    def of(self, x: Array, name: str) -> Any:
        """An array that stands for a field, without a batch axis where the problem has none."""
        if not self.problem.batched and name != "mask":
            x = x[0]
        return self.put(x)

    def put(self, x: Array) -> Any:
        """An array of the library, in the dtype of the problem."""
        return self.library.placed(x, self.problem.dtype)[1]

    # And back

    def read(self, result: Any, name: str, what: str) -> Array:
        """The numbers of a result that is shaped like a field of the problem."""
        return self._checked(result, getattr(self.problem, name).shape, what)

    def read_weights(self, result: Any) -> Array:
        """The weights of every head (B, H, N, M), or their mean (B, N, M)."""
        p = self.problem
        shape = (p.B, p.N, p.M) if p.asks == "mean" else (p.B, p.H, p.N, p.M)
        return self._checked(result, shape, "what is returned as weights")

    def read_parameters(self, named: Mapping[str, Any], what: str = "") -> Parameters:
        """Parameters, or what is shaped like them, from under their names in the layer."""
        there = state_of(self.problem.parameters, self.names, self.problem.D)
        want = {name: x.shape for name, x in there.items()}
        for name, shape in want.items():
            if name not in named:
                raise Violation(f"there is no {what}{name}")
            check(self.library, named[name], shape, self.problem.dtype, what + name)
        found = {name: numbers(self.library, named[name]) for name in want}
        return parameters_of(found, self.names, self.problem.parameters)

    def _checked(self, result: Any, shape: tuple[int, ...], what: str) -> Array:
        batched = self.problem.batched
        shape = shape if batched else shape[1:]
        x = read(self.library, result, shape, self.problem.dtype, what)
        return x if batched else x[None]
