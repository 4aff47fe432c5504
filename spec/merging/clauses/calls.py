"""Section Q, ended. Rows are merged independently, and a call has no side effects.

A row is the state of one query, in one head of one batch element. The rows do not interact
when partial results are merged. The inputs still belong to the caller: many requests merge
the same shared prefix.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, leaves_its_inputs_alone, same_bits
from spec.merging.domain import Problems
from spec.merging.notation import Merging, Problem
from spec.merging.rounding import bounds, of_gradients, of_state
from spec.notation import Array

AXES = ("B", "H", "N")


def elsewhere(x: Array, axis: int, kept: int) -> Array:
    """x with other numbers of the same format everywhere except at position `kept` of an axis."""
    other = np.flip(-x if np.isfinite(x).all() else x, axis=axis).copy()
    place = (slice(None),) * axis + (kept,)
    other[place] = x[place]
    return other


def but_for_one(problem: Problem, letter: str) -> tuple[Problem, tuple[slice | int, ...]]:
    """A problem that agrees with this one only at one position of an axis, and the index of that
    position.
    """
    axis = AXES.index(letter)
    kept = problem.chance().below(getattr(problem, letter))
    changed = {name: elsewhere(getattr(problem, name), axis, kept) for name in Problem.axes}
    return problem.but(**changed), (slice(None),) * axis + (kept,)


def is_alone(merging: Merging, problem: Problem, letter: str) -> None:
    """Raise Violation unless the result at one position keeps every bit when all others change."""
    changed, place = but_for_one(problem, letter)
    here, there = merging.forward(problem), merging.forward(changed)
    same_bits(there.o[place], here.o[place])
    same_bits(there.lse[place], here.lse[place])


@clause(
    "Q22", over=Problems(least=(1, 1, 2)), catches={"reads_the_queries_before_the_heads"}, effort=2
)
def merging_is_independent_across_queries(merging: Merging, problem: Problem) -> None:
    """The states of other queries do not change a bit of the merged state of a query.

        s'(n) = s(n)    for s_1'(n) = s_1(n), s_2'(n) = s_2(n)

    Here s_1 and s_2 are two states, and s is the merged state. If a log-sum-exp is read in the
    wrong layout, a query gets the log-sum-exp of another query.
    """
    is_alone(merging, problem, "N")


@clause(
    "Q23",
    over=Problems(least=(1, 2, 1)),
    catches={"reads_the_first_head_for_all", "turns_a_square_of_heads_and_queries"},
    effort=4,
)
def merging_is_independent_across_heads(merging: Merging, problem: Problem) -> None:
    """The states of other heads do not change a bit of the merged state of a head.

        s'(h) = s(h)    for s_1'(h) = s_1(h), s_2'(h) = s_2(h)

    Here s_1 and s_2 are two states, and s is the merged state. Libraries disagree on whether heads
    or queries come first in a log-sum-exp. If there are as many heads as queries, the shape does
    not reveal the wrong order.
    """
    is_alone(merging, problem, "H")


@clause("Q24", over=Problems(least=(2, 1, 1)), catches={"reads_the_first_text_for_all"})
def merging_is_independent_across_the_batch(merging: Merging, problem: Problem) -> None:
    """Other batch elements do not change a bit of the merged state of a batch element.

        s'(b) = s(b)    for s_1'(b) = s_1(b), s_2'(b) = s_2(b)

    Here s_1 and s_2 are two states, and s is the merged state. A kernel that puts batch elements
    and splits of the keys on one axis must separate them again.
    """
    is_alone(merging, problem, "B")


@clause(
    "Q25",
    over=Problems(least=(2, 1, 1)),
    needs={Capability.GRADIENTS},
    catches={"adds_gradients_over_the_batch"},
)
def merge_gradients_are_independent_across_the_batch(merging: Merging, problem: Problem) -> None:
    """The states and cotangents of other batch elements do not change the gradients of a batch
    element.

        ds_i'(b) = ds_i(b)    for equal states and equal cotangents in b

    Here ds_i are the gradients of state i. Forward and backward passes are separate programs, so
    clause Q24 does not imply this.
    """
    changed, place = but_for_one(problem, "B")

    here, there = merging.backward(problem), merging.backward(changed)

    budgets = of_gradients(problem), of_gradients(changed)
    for one, other, *within in zip(here, there, *budgets, strict=True):
        equal(other[place], one[place], within=sum(x[place] for x in within))


@clause(
    "Q26",
    over=Problems(),
    needs={Capability.CALL},
    catches={"merges_into_the_first", "updates_the_log_sum_exp_in_place"},
)
def merging_does_not_modify_its_inputs(merging: Merging, problem: Problem) -> None:
    """A call changes neither state, and the merged output has its own memory.

        o_1, lse_1, o_2, lse_2 after = before, to the bit

    An in-place merge returns the right state only once: the next call reads overwritten inputs.
    """
    leaves_its_inputs_alone(merging.call(problem))


@clause("Q27", over=Problems(), catches={"remembers_states_by_their_log_sum_exps"})
def merge_result_does_not_depend_on_earlier_calls(merging: Merging, problem: Problem) -> None:
    """Equal inputs give equal results, bit for bit, even after a call with other inputs, whose
    result is right too.

        calls m(s_1, s_2), m(-s_1, -s_2), m(s_1, s_2):    the third result equals the first

    Here m merges two states, and -s_i has the output -o_i and the same log-sum-exp. The output of
    the second call must match the definition. This catches a function that stores its results and
    looks them up by a part of the inputs.
    """
    other = problem.but(o_1=-problem.o_1, o_2=-problem.o_2)

    first, between, last = (merging.forward(p) for p in (problem, other, problem))

    same_bits(last.o, first.o)
    same_bits(last.lse, first.lse)
    equal(between.o, bounds(other).state.o, within=of_state(other).o)


@clause("Q28", over=Problems(), needs={Capability.GRADIENTS}, catches={"accumulates_gradients"})
def merge_gradients_do_not_accumulate_between_calls(merging: Merging, problem: Problem) -> None:
    """Two backward calls with the same inputs return the same gradients.

        d_2 = d_1    the gradients of two calls with the same states and cotangents

    A framework may choose to add gradients to those of earlier calls; a function must not do so.
    """
    first, second = merging.backward(problem), merging.backward(problem)

    for one, other, within in zip(first, second, of_gradients(problem), strict=True):
        equal(other, one, within=2 * within)
