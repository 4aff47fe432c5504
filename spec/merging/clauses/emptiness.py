"""Section Q, continued. A state of no keys: what it says, and what it must not be asked.

A part may have no key for a query: a short prefix, a causal mask, a window, a split that the work
did not fill. Its log-sum-exp is -inf. What its output is, is what was in the buffer.
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
LEFT = 10000.0  # as what another call left in a buffer may be; in float16 it is finite


def left_behind(problem: Problem, number: float) -> Problem:
    """The problem with numbers of that size where its states are empty."""
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
def two_empty_states_are_one(merging: Merging, problem: Problem) -> None:
    """Where neither part has a key, there is none: the output is zero, and lse is -inf.

        (0, -inf) + (0, -inf) = (0, -inf)

    exp(-inf - max) is no number where the maximum is -inf too, and its NaN is handed on.
    """
    none = problem.empty[0] & problem.empty[1]

    o, lse = merging.forward(problem)

    same_bits(np.where(none[..., None], o, 0.0), np.zeros(o.shape))
    same_bits(np.where(none, lse, -np.inf), np.full(lse.shape, -np.inf))


@clause("Q19", over=NOTHING, catches={"interpolates", "shares_nothing_evenly"})
def the_output_of_an_empty_state_is_no_matter(merging: Merging, problem: Problem) -> None:
    """Any numbers may stand where a state is empty: not a bit of what is returned depends on them.

        (x, -inf) + s = (0, -inf) + s    for finite x

    Zero times a number is zero. A form that adds the difference of the outputs leaves digits.
    """
    other = left_behind(problem, LEFT)

    clean, found = merging.forward(problem), merging.forward(other)

    same_bits(found.o, clean.o)
    same_bits(found.lse, clean.lse)


@clause("Q20", over=NOTHING, catches={"multiplies_nothing_by_zero"}, force="should")
def what_an_empty_state_left_may_be_nan(merging: Merging, problem: Problem) -> None:
    """Even NaN and infinity may stand where a state is empty.

        (NaN, -inf) + s = (0, -inf) + s

    Memory that nobody wrote holds anything. Zero times NaN is NaN, so this takes a comparison.
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
def an_empty_state_has_no_gradient(merging: Merging, problem: Problem) -> None:
    """No gradient reaches an empty state, and the other one gets all of it; of two, none does.

        do_i = 0, dlse_i = 0 where lse_i = -inf    do_j = do, dlse_j = dlse of the other

    The weights are 0 and 1, and stay so when a score moves a little. Who differentiates
    exp(lse - max) has to say what (-inf) - (-inf) is.
    """
    d, budget = merging.backward(problem), of_gradients(problem)

    pairs = (("o_1", "lse_1", problem.empty), ("o_2", "lse_2", problem.empty[::-1]))
    for o, lse, (mine, theirs) in pairs:
        for name, want in ((o, problem.do), (lse, problem.dlse)):
            _only_where(mine, theirs, getattr(d, name), want, getattr(budget, name))


def _only_where(mine: Array, theirs: Array, got: Array, want: Array, within: Array) -> None:
    """Raise Violation unless it is 0 where mine is empty, and `want` where only theirs is."""
    mine, theirs = (x.reshape(x.shape + (1,) * (got.ndim - x.ndim)) for x in (mine, theirs))
    same_bits(np.where(mine, got, 0.0), np.zeros(got.shape))
    alone = theirs & ~mine
    equal(np.where(alone, got, 0.0), np.where(alone, want, 0.0), within=within)
