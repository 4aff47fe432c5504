"""Section T. An attention call is a pure function.

An attention function reads its inputs and returns an output. It does not write into
its inputs, it does not return their memory, and it keeps no state. The same inputs
give the same output, whatever calls came in between and however the arrays lie in
memory. Sizes of one and of zero are valid.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, holds
from spec.formats import FORMATS
from spec.notation import Array, Memory

VIEWS: tuple[Memory, ...] = ("transposed", "offset", "expanded")


def as_a_view(problem: Problem, answers: frozenset[str]) -> Problem:
    """The same numbers in a memory layout that the seed decides."""
    views = (*VIEWS, "strided") if Capability.STRIDES in answers else VIEWS
    return problem.but(memory=views[problem.seed % len(views)])


def without_keys(problem: Problem, q: Array) -> Problem:
    """The problem with these queries and without keys."""
    return moves.of_keys(problem, []).but(q=q, mask=None, memory="contiguous")


@clause(
    "T1",
    over=Problems(few=True),
    needs={Capability.CALL},
    catches={
        "scales_queries_in_place",
        "writes_into_the_mask",
        "keeps_nothing_of_what_it_adds",
        "clears_the_rest_of_the_page",
    },
    effort=2,
)
def inputs_are_not_modified(attention: Implementation, problem: Problem) -> None:
    """The call changes none of its inputs.

        q, k, v, mask after = q, k, v, mask before, to the bit

    Scaling or masking in place gives the right output now, and a wrong one to the next reader of
    that input. A KV cache among the inputs may receive the new keys and values, and must not change
    in any other way.
    """
    changed = attention.call(problem).changed

    holds(not changed, f"the call wrote into its input {', '.join(changed)}")


@clause(
    "T2",
    over=Problems(),
    needs={Capability.CALL},
    catches={"returns_the_values_themselves", "returns_the_same_buffer_again"},
)
def output_memory_is_not_shared(attention: Implementation, problem: Problem) -> None:
    """The output has its own memory, which it shares with no input and with no earlier output.

        writing to an input, or calling again, leaves the output as it is

    An output that shares memory is right when it is returned, and the next write changes it. So a
    comparison right after the call does not find the bug.
    """
    call = attention.call(problem)

    shared = ", ".join(call.aliased)
    holds(not call.aliased, f"the output shares memory with the input {shared}")
    holds(not call.reused, "a second call returned the memory of the first")


@clause("T5", over=Problems(), catches={"ignores_strides"}, effort=2)
def memory_layout_does_not_matter(attention: Implementation, problem: Problem) -> None:
    """Transposed, strided, offset and expanded views give the same output as contiguous arrays.

        o(inputs as views) = o(contiguous inputs)    up to rounding

    Code that reads memory in order is right on every newly created array, and wrong on a transposed
    or sliced one. An expanded view repeats elements by a stride of zero.
    """
    tidy = problem.but(memory="contiguous")
    view = as_a_view(problem, attention.answers)

    o, p = attention.forward(tidy), attention.forward(view)

    equal(p, o, within=rounding.of_output(tidy) + rounding.of_output(view))


@clause(
    "T6", over=Problems(), needs={Capability.GRADIENTS}, catches={"ignores_the_strides_of_dout"}
)
def memory_layout_does_not_matter_to_gradients(attention: Implementation, problem: Problem) -> None:
    """Gradients do not depend on the memory layout of the inputs and of the cotangent.

        (dq, dk, dv) of views = (dq, dk, dv) of contiguous arrays

    Cotangents are often views: the cotangent of a sum is one number with strides of zero. The
    backward pass reads memory separately from the forward pass, so T5 does not cover it.
    """
    tidy = problem.but(memory="contiguous")
    view = as_a_view(problem, attention.answers & attention.differentiates)

    here, there = attention.backward(tidy), attention.backward(view)

    budget = rounding.of_gradients(tidy)
    equal(there.q, here.q, within=2 * budget.q)
    equal(there.k, here.k, within=2 * budget.k)
    equal(there.v, here.v, within=2 * budget.v)


@clause(
    "T7",
    over=Problems(few=True),
    needs={Capability.GRADIENTS, Capability.PARTIAL_GRADIENTS},
    catches={"forgets_keys_asked_for_alone"},
)
def gradients_requested_alone_are_the_same(attention: Implementation, problem: Problem) -> None:
    """The gradient of an input is the same whether or not other gradients are requested with it.

        dk requested alone = dk requested with dq and dv

    A backward pass that skips gradients that are not requested has a separate path for each subset.
    """
    whole = attention.backward(problem)
    budget = rounding.of_gradients(problem)

    for names in (("q",), ("k",), ("v",), ("q", "v")):
        some = attention.partial(problem, names)
        for name in names:
            within = 2 * getattr(budget, name)
            equal(some[name], getattr(whole, name), within=within)


@clause(
    "T8",
    over=Problems(empty=True),
    needs={Capability.EMPTY},
    catches={"returns_double_precision", "returns_length_before_heads", "squeezes_axes_of_one"},
)
def empty_inputs_give_zeros_of_the_right_shape(attention: Implementation, problem: Problem) -> None:
    """Without keys the output is zero, without queries it is empty; the shape is (B, H, N, E).

        o = 0  of shape (B, H, N, E)    for M = 0

    The empty sum is zero: without keys every query is fully masked (M9). If the output itself is
    empty, only its shape or format can be wrong.
    """
    o = attention.forward(without_keys(problem, np.zeros_like(problem.q)))

    equal(o, np.zeros((problem.B, problem.H, problem.N, problem.E)), within=0)


@clause(
    "T10",
    over=Problems(least=(1, 1, 2, 1), scales=("default",)),
    needs={Capability.EMPTY},
    catches={"adds_zero_times_all_queries"},
)
def huge_queries_without_keys_give_zero(attention: Implementation, problem: Problem) -> None:
    """Without keys the output is zero, however large the queries are.

        o = 0    for M = 0 and every entry of q the largest finite number

    An early return may add zero times the sum of all queries, to keep the output connected to
    autograd. If that sum overflows, the output is NaN, although no other step would overflow.
    """
    largest = np.full_like(problem.q, FORMATS[problem.dtype].max)

    o = attention.forward(without_keys(problem, largest))

    equal(o, np.zeros((problem.B, problem.H, problem.N, problem.E)), within=0)
