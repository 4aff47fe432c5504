"""The definition as an implementation, its results rounded to the format of the problem.

If it breaks a clause on some problem, that problem says nothing about any target. This is how the
search for a smaller counterexample notices that it has left a domain.
"""

from collections.abc import Mapping

from spec.attention import definition
from spec.attention.notation import Gradients, Problem
from spec.attention.options import SINKS, SLOPES
from spec.attention.record import Implementation
from spec.comparison import holds
from spec.formats import rounded
from spec.notation import DTYPES, Array, Call


def truth() -> Implementation:
    """The definition as a record that supports everything, in every dtype."""
    return Implementation(
        name="the definition",
        forward=_forward,
        backward=_backward,
        bias_gradient=_bias_gradient,
        partial=_partial,
        sink_gradient=_sink_gradient,
        slope_gradient=_slope_gradient,
        lse_backward=_backward,
        weights=lambda problem: rounded(definition.weights(problem), problem.dtype),
        lse=lambda problem: rounded(definition.lse(problem), problem.dtype),
        training=_forward,
        call=lambda problem: Call(_forward(problem), problem.dtype),
        dtypes=DTYPES,
    )


def _forward(problem: Problem) -> Array:
    o = rounded(definition.attention(problem), problem.dtype)
    holds(o.shape == problem.dout.shape, "the cotangent is not shaped like the output")
    return o


def _backward(problem: Problem) -> Gradients:
    exact = definition.gradients(problem)
    return Gradients(*(rounded(x, problem.dtype) for x in (exact.q, exact.k, exact.v)))


def _partial(problem: Problem, names: tuple[str, ...]) -> Mapping[str, Array]:
    found = _backward(problem)
    return {name: getattr(found, name) for name in names}


def _bias_gradient(problem: Problem) -> Array:
    """The gradient of the bias, summed over the axes along which the mask is broadcast."""
    found = definition.gradients(problem).bias
    assert problem.mask is not None
    assert found is not None
    return rounded(definition.reduced(found, problem.mask.shape), problem.dtype)


def _sink_gradient(problem: Problem) -> Array:
    found = definition.gradients(problem).sinks
    assert found is not None
    return rounded(found, SINKS.dtype(problem))


def _slope_gradient(problem: Problem) -> Array:
    found = definition.gradients(problem).slopes
    assert found is not None
    return rounded(found, SLOPES.dtype(problem))
