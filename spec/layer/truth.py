"""The definition of a layer as a record, its results rounded to the format of the problem."""

from spec.comparison import holds
from spec.formats import rounded
from spec.layer import definition
from spec.layer.notation import LayerGradients, LayerProblem, Parameters
from spec.layer.record import Layer
from spec.notation import DTYPES, Array, Call


def truth() -> Layer:
    """The definition: everything is offered, in every dtype."""
    return Layer(
        name="the definition",
        forward=_forward,
        weights=_weights,
        backward=_backward,
        step=_step,
        state=lambda problem: problem.parameters,
        sequence=lambda problems: tuple(map(_forward, problems)),
        call=lambda problem: Call(_forward(problem), problem.dtype),
        dtypes=DTYPES,
    )


def _forward(problem: LayerProblem) -> Array:
    return rounded(definition.layer(problem), problem.dtype)


def _weights(problem: LayerProblem) -> Array:
    holds(problem.asks != "nothing", "no weights are asked for")
    return rounded(definition.weights(problem), problem.dtype)


def _backward(problem: LayerProblem) -> LayerGradients:
    return definition.gradients(problem).mapped(lambda x: rounded(x, problem.dtype))


def _step(problem: LayerProblem, rate: float) -> Parameters:
    moved = definition.gradients(problem).parameters.named()
    there = problem.parameters.named()
    after = {name: rounded(x - rate * moved[name], problem.dtype) for name, x in there.items()}
    return Parameters(**after)
