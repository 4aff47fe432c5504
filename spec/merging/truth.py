"""The definition as a record, its results rounded to the formats of the problem."""

from spec.formats import rounded
from spec.merging import definition
from spec.merging.notation import Gradients, Merging, Problem, State
from spec.notation import DTYPES, Call


def truth() -> Merging:
    """The definition: everything is offered, in every dtype."""
    return Merging(
        "the definition",
        _forward,
        _backward,
        lambda problem: Call(_forward(problem).o, problem.dtype),
        dtypes=DTYPES,
    )


def _forward(problem: Problem) -> State:
    o, lse = definition.merged(problem)
    return State(rounded(o, problem.dtype), rounded(lse, problem.lse_dtype))


def _backward(problem: Problem) -> Gradients:
    found, to = definition.gradients(problem), (problem.dtype, problem.lse_dtype)
    return Gradients(*(rounded(x, dtype) for x, dtype in zip(found, to * 2, strict=True)))
