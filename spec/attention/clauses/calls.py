"""Section T. The call is a function.

An attention function reads its inputs and returns an output; that is all. It
does not write into what it was given, does not hand it back, and remembers
nothing: the same question gets the same answer, whatever was asked in between
and however the numbers lie in memory. Sizes of one and of zero are sizes.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, holds, same_bits
from spec.formats import FORMATS
from spec.notation import Array, Memory

VIEWS: tuple[Memory, ...] = ("transposed", "offset", "expanded")


def as_a_view(problem: Problem, answers: frozenset[str]) -> Problem:
    """The same numbers, lying in memory in a way that the seed settles."""
    views = (*VIEWS, "strided") if Capability.STRIDES in answers else VIEWS
    return problem.but(memory=views[problem.seed % len(views)])


def without_keys(problem: Problem, q: Array) -> Problem:
    """The problem with these queries, and nothing to attend to."""
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
def inputs_are_left_alone(attention: Implementation, problem: Problem) -> None:
    """No input is changed by the call.

        q, k, v, mask after = q, k, v, mask before, to the bit

    A scale or a mask that is prepared in place gives the right output, and a wrong one to the
    next reader of that input. New keys are added to a cache, and nothing else becomes of it.
    """
    changed = attention.call(problem).changed

    holds(not changed, f"the call wrote into its input {', '.join(changed)}")


@clause(
    "T2",
    over=Problems(),
    needs={Capability.CALL},
    catches={"returns_the_values_themselves", "returns_the_same_buffer_again"},
)
def the_output_is_new(attention: Implementation, problem: Problem) -> None:
    """The output has memory of its own: no input's, and not that of the last output.

        writing to an input, or calling again, leaves the output as it is

    An output that shares memory is right when it is returned and wrong later, so no comparison
    of numbers finds it.
    """
    call = attention.call(problem)

    shared = ", ".join(call.aliased)
    holds(not call.aliased, f"the output shares memory with the input {shared}")
    holds(not call.reused, "a second call returned the memory of the first")


@clause(
    "T3",
    over=Problems(),
    catches={"drops_a_key_every_seventh_call", "drops_out_in_evaluation"},
    effort=3,
)
def the_same_question_has_the_same_answer(attention: Implementation, problem: Problem) -> None:
    """Asked twice, an implementation answers the same, to the bit.

        o(x) = o(x)

    Any order of summation will do, but the same one each time. Races and a dropout left on
    change the answer from call to call.
    """
    first, second = attention.forward(problem), attention.forward(problem)

    same_bits(second, first)


@clause(
    "T4",
    over=Problems(least=(1, 1, 1, 2)),
    catches={"remembers_answers_by_shape", "keeps_stale_keys"},
    effort=2,
)
def nothing_is_remembered(attention: Implementation, problem: Problem) -> None:
    """What was asked before does not change the answer: other values, another shape, then again.

        o(x), o(y), o(z), o(x)    and the last is the first

    o(y) is compared with the definition: a cache whose key is the shape repeats o(x)
    faithfully, and gives it to y too.
    """
    other = problem.but(k=-problem.k, v=np.flip(problem.v, axis=2), q=np.flip(problem.q, axis=2))
    smaller = moves.of_keys(problem, slice(1, None)).but(mask=None)

    first = attention.forward(problem)
    between = attention.forward(other)
    attention.forward(smaller)

    same_bits(attention.forward(problem), first)
    equal(between, rounding.reference(other).o, within=rounding.of_output(other))


@clause("T5", over=Problems(), catches={"ignores_strides"}, effort=2)
def memory_layout_does_not_matter(attention: Implementation, problem: Problem) -> None:
    """Views, strides, offsets and strides of zero hold the same numbers, so give the same output.

        o(x as a view) = o(x contiguous)

    Code that reads memory in order is right on every array that was just made, and wrong on a
    transposed or sliced one.
    """
    tidy = problem.but(memory="contiguous")
    view = as_a_view(problem, attention.answers)

    o, p = attention.forward(tidy), attention.forward(view)

    equal(p, o, within=rounding.of_output(tidy) + rounding.of_output(view))


@clause(
    "T6", over=Problems(), needs={Capability.GRADIENTS}, catches={"ignores_the_strides_of_dout"}
)
def memory_layout_does_not_matter_to_gradients(attention: Implementation, problem: Problem) -> None:
    """Gradients do not depend on how inputs and cotangent lie in memory.

        (dq, dk, dv) of views = (dq, dk, dv) of contiguous arrays

    Cotangents are often views: that of a sum is one number with strides of zero. The passes
    read memory separately, so T5 does not say it for them.
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
def any_subset_of_gradients_may_be_asked(attention: Implementation, problem: Problem) -> None:
    """Gradients of some inputs are the same whether or not the others are asked for.

        dk asked for alone = dk asked for with dq and dv

    A backward pass that leaves out what nobody asked for is a path of its own for each subset.
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
def sizes_of_zero_are_sizes(attention: Implementation, problem: Problem) -> None:
    """No keys give an output of zeros, no queries give none, and shapes stay what they are.

        o = 0  of shape (B, H, N, E)    for M = 0

    The empty sum is zero: without keys every query is idle (M9). Of an output that is itself
    empty, the shape is all that can be wrong.
    """
    o = attention.forward(without_keys(problem, np.zeros_like(problem.q)))

    equal(o, np.zeros((problem.B, problem.H, problem.N, problem.E)), within=0)


@clause(
    "T10",
    over=Problems(least=(1, 1, 2, 1), scales=("default",)),
    needs={Capability.EMPTY},
    catches={"adds_zero_times_all_queries"},
)
def without_keys_no_query_is_read(attention: Implementation, problem: Problem) -> None:
    """Without keys the output is zero, however large the queries are.

        o = 0    for M = 0 and q as large as numbers are

    Who returns early may keep derivatives connected by a sum of all queries times zero. Where
    that sum overflows it is NaN, long before anything else of attention would be.
    """
    largest = np.full_like(problem.q, FORMATS[problem.dtype].max)

    o = attention.forward(without_keys(problem, largest))

    equal(o, np.zeros((problem.B, problem.H, problem.N, problem.E)), within=0)


@clause(
    "T9",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"starts_from_what_the_backward_pass_left"},
)
def a_backward_pass_leaves_no_trace(attention: Implementation, problem: Problem) -> None:
    """The output is the same before and after gradients were asked for, to the bit.

        o(x), d(x), o(x)    and the last is the first

    Passes may share a buffer. If it is not cleared, the next output starts from what the last
    gradients left.
    """
    before = attention.forward(problem)
    attention.backward(problem)

    same_bits(attention.forward(problem), before)
