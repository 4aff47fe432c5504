"""Section Q, ended. Each row is alone, and the call is a function.

Rows, heads and texts meet in attention, if anywhere, and not where its parts are put together. And
what is merged belongs to somebody: a prefix that many requests share is merged many times.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, leaves_its_inputs_alone, same_bits
from spec.merging.domain import Problems
from spec.merging.notation import Merging, Problem
from spec.merging.rounding import bounds, of_state
from spec.notation import Array

AXES = ("B", "H", "N")


def elsewhere(x: Array, axis: int, kept: int) -> Array:
    """x, with other numbers of the same format at every place of an axis but one."""
    other = np.flip(-x if np.isfinite(x).all() else x, axis=axis).copy()
    place = (slice(None),) * axis + (kept,)
    other[place] = x[place]
    return other


def but_for_one(problem: Problem, letter: str) -> tuple[Problem, tuple[slice | int, ...]]:
    """A problem that is the same at one place of an axis alone, and that place."""
    axis = AXES.index(letter)
    kept = problem.chance().below(getattr(problem, letter))
    changed = {name: elsewhere(getattr(problem, name), axis, kept) for name in Problem.axes}
    return problem.but(**changed), (slice(None),) * axis + (kept,)


def is_alone(merging: Merging, problem: Problem, letter: str) -> None:
    """Raise Violation unless a place of an axis keeps every bit when all others change."""
    changed, place = but_for_one(problem, letter)
    here, there = merging.forward(problem), merging.forward(changed)
    same_bits(there.o[place], here.o[place])
    same_bits(there.lse[place], here.lse[place])


@clause(
    "Q22", over=Problems(least=(1, 1, 2)), catches={"reads_the_queries_before_the_heads"}, effort=2
)
def each_row_is_alone(merging: Merging, problem: Problem) -> None:
    """What is known for other queries does not change a bit of what is merged for one.

        s'(n) = s(n)    for s_1'(n) = s_1(n), s_2'(n) = s_2(n)

    A log-sum-exp that is read in another layout is that of somebody else.
    """
    is_alone(merging, problem, "N")


@clause(
    "Q23",
    over=Problems(least=(1, 2, 1)),
    catches={"reads_the_first_head_for_all", "turns_a_square_of_heads_and_queries"},
    effort=4,
)
def each_head_is_alone(merging: Merging, problem: Problem) -> None:
    """What is known in other heads does not change a bit of what is merged in one.

        s'(h) = s(h)    for s_1'(h) = s_1(h), s_2'(h) = s_2(h)

    Servers disagree on whether heads or queries come first in a log-sum-exp, and where there are
    as many of both, no shape tells.
    """
    is_alone(merging, problem, "H")


@clause("Q24", over=Problems(least=(2, 1, 1)), catches={"reads_the_first_text_for_all"})
def each_batch_element_is_alone(merging: Merging, problem: Problem) -> None:
    """What is known in other batch elements does not change a bit of what is merged in one.

        s'(b) = s(b)    for s_1'(b) = s_1(b), s_2'(b) = s_2(b)

    A kernel that folds the batch into its splits has to unfold it again.
    """
    is_alone(merging, problem, "B")


@clause(
    "Q25",
    over=Problems(least=(2, 1, 1)),
    needs={Capability.GRADIENTS},
    catches={"adds_gradients_over_the_batch"},
)
def each_gradient_is_alone(merging: Merging, problem: Problem) -> None:
    """No bit of the gradients in a batch element depends on the other ones.

        ds_i'(b) = ds_i(b)    for what is known and its cotangents the same in b

    The passes are written separately, so Q24 does not say it for the gradients.
    """
    changed, place = but_for_one(problem, "B")

    here, there = merging.backward(problem), merging.backward(changed)

    for one, other in zip(here, there, strict=True):
        same_bits(other[place], one[place])


@clause(
    "Q26",
    over=Problems(),
    needs={Capability.CALL},
    catches={"merges_into_the_first", "updates_the_log_sum_exp_in_place"},
)
def states_are_left_alone(merging: Merging, problem: Problem) -> None:
    """Neither state is changed by the call, and the output has memory of its own.

        o_1, lse_1, o_2, lse_2 after = before, to the bit

    What is merged in place gives the right state, once.
    """
    leaves_its_inputs_alone(merging.call(problem))


@clause("Q27", over=Problems(), catches={"remembers_states_by_their_log_sum_exps"})
def nothing_is_remembered(merging: Merging, problem: Problem) -> None:
    """The same question has the same answer, to the bit, and another question its own.

        m(s_1, s_2), m(-s_1, -s_2), m(s_1, s_2)    and the last is the first

    with outputs of the other sign, whose answer is compared with the definition.
    """
    other = problem.but(o_1=-problem.o_1, o_2=-problem.o_2)

    first, between, last = (merging.forward(p) for p in (problem, other, problem))

    same_bits(last.o, first.o)
    same_bits(last.lse, first.lse)
    equal(between.o, bounds(other).state.o, within=of_state(other).o)


@clause("Q28", over=Problems(), needs={Capability.GRADIENTS}, catches={"accumulates_gradients"})
def gradients_start_from_nothing(merging: Merging, problem: Problem) -> None:
    """Gradients asked for twice are the same, to the bit.

        d(s_1, s_2), d(s_1, s_2)

    Gradients that add to those of the last call are a choice of frameworks, not of functions.
    """
    first, second = merging.backward(problem), merging.backward(problem)

    for one, other in zip(first, second, strict=True):
        same_bits(other, one)
