"""The definition as a record, with masks drawn from the seed of the problem."""

import numpy as np

from spec.attention.notation import Gradients
from spec.dropout import definition
from spec.dropout.notation import Dropout, Modes, Problem
from spec.formats import rounded
from spec.notation import DTYPES, Array, Call
from spec.stream import Stream


def truth() -> Dropout:
    """The definition: everything is offered, in every dtype."""
    return Dropout(
        "the definition",
        forward=_forward,
        sequence=_sequence,
        backward=_backward,
        weights=lambda problem: rounded(definition.weights(problem, _mask(problem)), problem.dtype),
        call=lambda problem: Call(_forward(problem), problem.dtype),
        dtypes=DTYPES,
    )


def _kept(problem: Problem, chance: Stream) -> Array:
    shape = (problem.B, problem.H, problem.N, problem.M)
    return np.asarray(chance.random(*shape) >= problem.rate)


def _mask(problem: Problem) -> Array:
    return _kept(problem, Stream(problem.seed))


def _backward(problem: Problem) -> Gradients:
    exact = definition.gradients(problem, _mask(problem))
    return Gradients(*(rounded(x, problem.dtype) for x in (exact.q, exact.k, exact.v)))


def _sequence(problem: Problem, modes: Modes) -> tuple[Array, ...]:
    chance = Stream(problem.seed)
    calls = (problem.but(training=mode) for mode in modes)
    return tuple(rounded(definition.attention(p, _kept(p, chance)), p.dtype) for p in calls)


def _forward(problem: Problem) -> Array:
    return _sequence(problem, (problem.training,))[0]
