"""Section Q, continued. A state of no keys contributes nothing to a merge.

A part may have no key that a query may attend to: a short prefix, a causal mask, a sliding
window, or a split that received no work. The log-sum-exp of such a part is -inf. Its output
is whatever the buffer held before.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.merging.domain import ALL, NONE, NOT_FIRST, NOT_SECOND, Problems
from spec.merging.notation import Merging, Problem, State
from spec.merging.rounding import of_gradients
from spec.notation import Array
from spec.stream import Stream

NOTHING = Problems(rows=(NONE, NONE, ALL, NOT_FIRST, NOT_SECOND))
ONE = Problems(rows=(NOT_FIRST, NOT_SECOND, NOT_SECOND, ALL, NONE))
LEFT = 10000.0  # a value that another call may have left in a buffer; finite in float16


def left_behind(problem: Problem, number: float) -> Problem:
    """The problem with numbers of up to this size as the outputs of its empty states."""
    chance = Stream(problem.seed, 3)
    (o_1, o_2), states = (problem.o_1, problem.o_2), (problem.one, problem.two)
    garbage = (np.float16(number * chance.random(*o.shape)).astype(np.float64) for o in (o_1, o_2))
    pairs = zip(states, problem.empty, garbage, strict=True)
    one, two = (State(np.where(e[..., None], x, s.o), s.lse) for s, e, x in pairs)
    return problem.of(one, two)


@clause(
    "Q18",
    over=NOTHING,
    catches={
        "gives_nan_for_two_empty_states",
        "keeps_a_number_for_nothing",
        "returns_infinity_for_nothing",
    },
)
def two_empty_states_merge_to_an_empty_state(merging: Merging, problem: Problem) -> None:
    """If no key of either part is visible to a query, its merged state is the output 0 and the
    log-sum-exp -inf.

        (0, -inf) + (0, -inf) = (0, -inf)

    Here the maximum of the two log-sum-exps is -inf too. So exp(lse_i - max) is NaN without a
    special case, and NaN spreads to the results.
    """
    none = problem.empty[0] & problem.empty[1]

    o, lse = merging.forward(problem)

    same_bits(np.where(none[..., None], o, 0.0), np.zeros(o.shape))
    same_bits(np.where(none, lse, -np.inf), np.full(lse.shape, -np.inf))


@clause("Q19", over=NOTHING, catches={"interpolates", "shares_nothing_evenly"})
def output_of_an_empty_state_is_ignored(merging: Merging, problem: Problem) -> None:
    """The output of an empty state may be any finite number: no bit of the result depends on it.

        (x, -inf) + s = (0, -inf) + s    for finite x

    Here + merges two states. The weight of an empty state is zero, and zero times a finite number
    is zero. The form o_1 + w_2 (o_2 - o_1) breaks this: for o_1 = x, its rounding depends on x.
    """
    other = left_behind(problem, LEFT)

    clean, found = merging.forward(problem), merging.forward(other)

    same_bits(found.o, clean.o)
    same_bits(found.lse, clean.lse)


@clause("Q20", over=NOTHING, catches={"multiplies_nothing_by_zero"}, force="should")
def nan_or_infinity_in_an_empty_state_is_ignored(merging: Merging, problem: Problem) -> None:
    """NaN or infinity in the output of an empty state changes no bit of the merged output.

        (NaN, -inf) + s = (0, -inf) + s

    Uninitialised memory may hold anything. Zero times NaN is NaN, so an implementation needs an
    explicit test for empty states.
    """
    clean = merging.forward(problem)

    for number in (np.nan, np.inf):
        other = left_behind(problem, 1.0)
        pairs = zip((other.one, other.two), problem.empty, strict=True)
        one, two = (State(np.where(e[..., None], number, s.o), s.lse) for s, e in pairs)
        same_bits(merging.forward(problem.of(one, two)).o, clean.o)


@clause(
    "Q21",
    over=ONE,
    needs={Capability.GRADIENTS},
    catches={
        "gives_nan_for_the_gradient_of_nothing",
        "hands_an_empty_state_its_half",
        "hands_the_whole_cotangent_to_both",
    },
)
def empty_state_receives_no_gradient(merging: Merging, problem: Problem) -> None:
    """An empty state receives no gradient, and a live state that is merged with it receives the
    whole cotangent.

        do_i = 0, dlse_i = 0 where lse_i = -inf    do_j = do, dlse_j = dlse for the other, if live

    Here do_i and dlse_i are the gradients of state i. The weights are 0 and 1, and a small change
    of a score does not change them. If both states are empty, all gradients are zero. A backward
    pass that differentiates exp(lse - max) must handle (-inf) - (-inf).
    """
    d, budget = merging.backward(problem), of_gradients(problem)

    pairs = (("o_1", "lse_1", problem.empty), ("o_2", "lse_2", problem.empty[::-1]))
    for o, lse, (mine, theirs) in pairs:
        for name, want in ((o, problem.do), (lse, problem.dlse)):
            _only_where(mine, theirs, getattr(d, name), want, getattr(budget, name))


def _only_where(mine: Array, theirs: Array, got: Array, want: Array, within: Array) -> None:
    """Raise Violation unless `got` is 0 where mine is empty, and `want` where only theirs is."""
    mine, theirs = (x.reshape(x.shape + (1,) * (got.ndim - x.ndim)) for x in (mine, theirs))
    same_bits(np.where(mine, got, 0.0), np.zeros(got.shape))
    alone = theirs & ~mine
    equal(np.where(alone, got, 0.0), np.where(alone, want, 0.0), within=within)
