"""Section T. The same call gives the same result, whatever came in between.

A result may depend on the order of summation, and so may differ from call to call within
rounding, as with atomic additions. Whether even its bits are the same is a promise of the
implementation (`spec.promises`): training that can be repeated, and debugging, need it.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits


def with_other_values(problem: Problem) -> Problem:
    """A problem of the same shapes, with other queries, keys and values."""
    return problem.but(k=-problem.k, v=np.flip(problem.v, axis=2), q=np.flip(problem.q, axis=2))


def without_the_first_key(problem: Problem) -> Problem:
    """A problem of another shape."""
    return moves.of_keys(problem, slice(1, None)).but(mask=None)


@clause(
    "T3",
    over=Problems(),
    catches={
        "drops_a_key_every_seventh_call",
        "drops_out_in_evaluation",
        "adds_in_another_order_every_call",
    },
    promise="run",
)
def repeated_call_gives_identical_output(attention: Implementation, problem: Problem) -> None:
    """Two calls with the same inputs give the same output, bit for bit.

        o(x) = o(x)    in two calls with the inputs x

    Any order of summation is allowed, but it must be the same in each call. The clause catches race
    conditions and dropout that is left on, which change the output from call to call. T11 allows
    differences of rounding.
    """
    first, second = attention.forward(problem), attention.forward(problem)

    same_bits(second, first)


@clause(
    "T4",
    over=Problems(least=(1, 1, 1, 2)),
    catches={"remembers_answers_by_shape", "keeps_stale_keys"},
    promise="run",
)
def earlier_calls_do_not_affect_the_output(attention: Implementation, problem: Problem) -> None:
    """Earlier calls do not affect the output's bits, whatever their values and shapes were.

        o(x), o(z), o(y), o(x)    the last equals the first; y has other values, z another shape

    Code that keeps its latest result, and returns it for inputs of the same shape, returns o(y) for
    the last call. T12 allows differences of rounding.
    """
    first = attention.forward(problem)
    attention.forward(without_the_first_key(problem))
    attention.forward(with_other_values(problem))

    same_bits(attention.forward(problem), first)


@clause(
    "T9",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"starts_from_what_the_backward_pass_left"},
    promise="run",
)
def backward_pass_does_not_affect_next_output(attention: Implementation, problem: Problem) -> None:
    """The output is the same before and after a backward pass, bit for bit.

        o(x), d(x), o(x)    the last equals the first; d is the backward pass

    Forward and backward passes may share a buffer. If it is not cleared, the next output starts
    from what the last backward pass left there. T13 allows differences of rounding.
    """
    before = attention.forward(problem)
    attention.backward(problem)

    same_bits(attention.forward(problem), before)


@clause(
    "T11",
    over=Problems(),
    catches={"drops_a_key_every_seventh_call", "drops_out_in_evaluation"},
    effort=3,
)
def repeated_call_gives_equal_output(attention: Implementation, problem: Problem) -> None:
    """Two calls with the same inputs give the same output, up to rounding.

        o(x) = o(x)    in two calls with the inputs x

    Only the order of summation may change from call to call. The clause catches race conditions,
    and dropout that is left on.
    """
    first, second = attention.forward(problem), attention.forward(problem)

    equal(second, first, within=2 * rounding.of_output(problem))


@clause(
    "T12",
    over=Problems(least=(1, 1, 1, 2)),
    catches={"remembers_answers_by_shape", "keeps_stale_keys"},
    effort=2,
)
def earlier_calls_leave_no_trace_in_outputs(attention: Implementation, problem: Problem) -> None:
    """Earlier calls leave no trace in an output, whether they had other values or another shape.

        o(x), o(y), o(z), o(x)    the last equals the first; y has other values, z another shape

    o(y) is compared with the definition. Code that keeps results by shape returns the right o(x)
    again, but it returns o(x) for y as well.
    """
    other = with_other_values(problem)

    first = attention.forward(problem)
    between = attention.forward(other)
    attention.forward(without_the_first_key(problem))
    again = attention.forward(problem)

    equal(again, first, within=2 * rounding.of_output(problem))
    equal(between, rounding.reference(other).o, within=rounding.of_output(other))


@clause(
    "T13",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"starts_from_what_the_backward_pass_left"},
)
def backward_pass_leaves_no_trace_in_next_output(
    attention: Implementation, problem: Problem
) -> None:
    """A backward pass leaves no trace in the next output, up to rounding.

        o(x), d(x), o(x)    the last equals the first; d is the backward pass

    A buffer that both passes share has to be cleared between them.
    """
    before = attention.forward(problem)
    attention.backward(problem)

    equal(attention.forward(problem), before, within=2 * rounding.of_output(problem))


@clause(
    "T14",
    over=Problems(tiled="keys", families=("normal",)),
    needs={Capability.GRADIENTS},
    catches={"adds_gradients_in_another_order_every_call"},
    promise="run",
)
def repeated_backward_pass_gives_identical_gradients(
    attention: Implementation, problem: Problem
) -> None:
    """Two backward passes with the same inputs give the same gradients, bit for bit.

        (dq, dk, dv)(x) = (dq, dk, dv)(x)    in two calls with the inputs x

    Kernels that compute dk and dv tile by tile often add the parts of dq by atomic additions, whose
    order changes from call to call. A2 to A4 check the values.
    """
    first, second = attention.backward(problem), attention.backward(problem)

    same_bits(second.q, first.q)
    same_bits(second.k, first.k)
    same_bits(second.v, first.v)


@clause(
    "T15",
    over=Problems(tiled="keys", families=("normal",)),
    needs={Capability.LSE},
    catches={"measures_in_another_order_every_call"},
    effort=2,
    promise="run",
)
def repeated_call_gives_identical_lse(attention: Implementation, problem: Problem) -> None:
    """Two calls with the same inputs give the same log-sum-exp, bit for bit.

        lse(x) = lse(x)    in two calls with the inputs x

    A backward pass computes the weights again from the log-sum-exp. A7 checks its value.
    """
    first, second = attention.lse(problem), attention.lse(problem)

    same_bits(second, first)
