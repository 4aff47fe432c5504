"""The definition as a record, its results rounded to the format of the problem."""

from spec.feed_forward import definition
from spec.feed_forward.notation import FeedForward, Gradients, Problem
from spec.formats import rounded
from spec.notation import DTYPES, Array, Call


def truth() -> FeedForward:
    """The definition: everything is offered, in every dtype."""
    return FeedForward(
        "the definition",
        _forward,
        _backward,
        lambda problem: Call(_forward(problem), problem.dtype),
        dtypes=DTYPES,
    )


def _forward(problem: Problem) -> Array:
    return rounded(definition.feed_forward(problem), problem.dtype)


def _backward(problem: Problem) -> Gradients:
    return Gradients(*(rounded(x, problem.dtype) for x in definition.gradients(problem)))
