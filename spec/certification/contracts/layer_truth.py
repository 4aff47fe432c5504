"""The definition of a layer as a record, its results rounded to the format of the problem."""

from __future__ import annotations

from spec.clause import holds
from spec.layer import definition
from spec.layer.notation import LayerGradients, LayerProblem, Parameters
from spec.layer.record import Layer
from spec.notation import DTYPES, Array, Call
from spec.rounding.formats import rounded


def truth() -> Layer:
    """The definition as a layer, its results rounded to the format of the problem."""

    def forward(problem: LayerProblem) -> Array:
        return rounded(definition.layer(problem), problem.dtype)

    def backward(problem: LayerProblem) -> LayerGradients:
        exact = definition.gradients(problem)
        of_inputs = (exact.query, exact.key, exact.value)
        stored = [None if x is None else rounded(x, problem.dtype) for x in of_inputs]
        assert stored[0] is not None
        of_parameters = exact.parameters.mapped(lambda x: rounded(x, problem.dtype))
        return LayerGradients(stored[0], stored[1], stored[2], of_parameters)

    def weights(problem: LayerProblem) -> Array:
        holds(problem.asks != "nothing", "no weights are asked for")
        return rounded(definition.weights(problem), problem.dtype)

    def step(problem: LayerProblem, rate: float) -> Parameters:
        moved = definition.gradients(problem).parameters.named()
        there = problem.parameters.named()
        after = {name: rounded(x - rate * moved[name], problem.dtype) for name, x in there.items()}
        return Parameters(**after)

    return Layer(
        name="the definition",
        forward=forward,
        weights=weights,
        backward=backward,
        step=step,
        state=lambda problem: problem.parameters,
        sequence=lambda problems: tuple(map(forward, problems)),
        call=lambda problem: Call(forward(problem), problem.dtype),
        dtypes=DTYPES,
    )
