"""Section C, continued. Tokens that were rolled back have no influence.

Speculative decoding processes tokens and then removes some of them. A chat returns to an earlier
turn. The first tokens stay, and the others are removed:

    rollback(read(state, x), length before) = state

Most caches do this by a number: the end of the sequence moves back. The data beyond the end stays
in memory, stale, until it is overwritten. So the memory beyond the end may hold anything. None of
it may influence an output: not as a key, not as a value, not as the position of the next token.

A cache with a window may have discarded keys that the earlier tokens need again. Then it cannot go
back, and has to say so: it raises an exception, and gives no output.
"""

from dataclasses import replace

import numpy as np

from spec.cache import rounding
from spec.cache.domain import Texts
from spec.cache.notation import Problem
from spec.cache.reading import at_once, one_by_one, paused, read, turning
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.entries import LARGEST_ENTRY, LARGEST_SCORE
from spec.formats import rounded
from spec.notation import Array

ROLLBACK = {Capability.ROLLBACK}
ANY_WINDOW = Texts(windowed=None)


def with_a_detour(cache: Cache, problem: Problem, places: Array, *, slowly: bool = False) -> Array:
    """The outputs of a sequence in which the other one is inserted at `places` and rolled back.

    slowly: the other sequence is processed token by token.
    """
    problem, ends = paused(problem, places), places + problem.M
    o, state = read(cache, cache.begin(problem), problem.text, problem.steps(0 * places, places))
    detour = (one_by_one if slowly else at_once)(places, ends)
    _, state = read(cache, turning(state, places, detour), problem.other, detour)
    state = replace(cache.rollback(state, places), problem=problem)
    p, _ = read(cache, state, problem.text, problem.steps(places, problem.ends), places)
    return o + p


@clause(
    "C23",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={
        "takes_back_one_too_few",
        "takes_back_nothing",
        "cuts_a_ring_as_if_it_were_flat",
        "goes_back_without_the_window",
        "writes_values_behind_what_was_taken_back",
        "sees_what_was_taken_back",
        "takes_back_one_too_many",
    },
    effort=2,
)
def rollback_restores_the_earlier_state(cache: Cache, problem: Problem) -> None:
    """If another sequence is processed and rolled back, the outputs are still those of one pass.

        o(x[t:]; rollback of (cache of x[:t] and y) to t) = o(x; causal)[t:]

    Keys, values and the position of the next token must all be as they were before. A cache that
    has dropped keys that it needs again must raise an exception. The pass has the same window.
    """
    o = with_a_detour(cache, problem, problem.place())

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C24",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={
        "takes_a_length_of_zero_for_none",
        "takes_back_one_too_few",
        "takes_back_nothing",
        "sees_what_was_taken_back",
        "goes_back_without_the_window",
    },
)
def rollback_to_zero_empties_the_cache(cache: Cache, problem: Problem) -> None:
    """A cache that is rolled back to length zero behaves like a new one.

        o(x; rollback of (cache of y) to 0) = o(x; causal)

    A common bug takes a length of 0 for "no length given". The pass has the same window.
    """
    o = with_a_detour(cache, problem, 0 * problem.ends, slowly=True)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C25",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={
        "sees_what_was_taken_back",
        "lowers_what_is_hidden_by_ten_thousand",
        "leaves_empty_places_a_little",
        "takes_back_one_too_few",
    },
    promise="length",
)
def rolled_back_content_does_not_change_outputs(cache: Cache, problem: Problem) -> None:
    """Tokens that were rolled back change no bit of later outputs, however large they were.

        o(x[t:]; after rollback of y) = o(x[t:]; after rollback of y')

    Here y and y' are the tokens after x[:t] that are rolled back, as large as the tests allow. The
    keys of y point towards the last query and those of y' away from it, and their values have
    opposite signs. After the rollback they may still be in memory. If they get a weight, even a
    tiny one can change the output.
    """
    o, p = with_overwhelming_detours(cache, problem)

    same_bits(p, o)


def with_overwhelming_detours(cache: Cache, problem: Problem) -> tuple[Array, Array]:
    """The outputs after a rollback of large tokens, and after one of their opposites."""
    places = problem.place()
    one, two = (problem.but(**overwhelming(problem, sign)) for sign in (1, -1))
    return with_a_detour(cache, one, places), with_a_detour(cache, two, places)


def overwhelming(problem: Problem, sign: int) -> dict[str, Array]:
    """Another sequence, as large as allowed; its keys point to the last query (or away from it)."""
    k, v = np.zeros_like(problem.k_other), np.zeros_like(problem.v_other)
    towards = np.sign(problem.q[:, :: problem.H // problem.G, -1:])
    longest = np.sqrt((np.concatenate([problem.q, problem.q_other], axis=2) ** 2).sum(axis=-1))
    reach = LARGEST_SCORE[problem.dtype] / (max(1.0, longest.max()) * np.sqrt(problem.D))
    most = LARGEST_ENTRY[problem.dtype]
    size = min(most, 2.0 ** float(np.floor(np.log2(reach))))
    k = rounded(k + sign * size * np.where(towards == 0, 1, towards), problem.dtype)
    return {"k_other": k, "v_other": v + sign * most}


def with_an_idle_rollback(cache: Cache, problem: Problem) -> tuple[Problem, Array, Array, Array]:
    """The outputs before a rollback to the current lengths, after it, and without it."""
    places = problem.place()
    problem = paused(problem, places)
    steps = problem.steps(0 * places, places), problem.steps(places, problem.ends)

    o, state = read(cache, cache.begin(problem), problem.text, steps[0])
    p, _ = read(cache, cache.rollback(state, places), problem.text, steps[1], places)
    _, state = read(cache, cache.begin(problem), problem.text, steps[0])
    q, _ = read(cache, state, problem.text, steps[1], places)
    return problem, o, p, q


@clause(
    "C26",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={"takes_all_sequences_back_to_the_shortest", "takes_back_one_too_many"},
    effort=4,
    promise="run",
)
def rollback_to_current_length_changes_nothing(cache: Cache, problem: Problem) -> None:
    """Rolling all sequences back to their current lengths changes no bit of later outputs.

        o(x[t:]; rollback of (cache of x[:t]) to t) = o(x[t:]; cache of x[:t])

    A batch is rolled back as a whole, even if only one of its sequences needs it.
    """
    problem, o, p, q = with_an_idle_rollback(cache, problem)

    same_bits(p, q)
    equal(o + p, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C27",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={"multiplies_what_is_hidden_by_zero"},
    force="should",
)
def rolled_back_nan_does_not_change_outputs(cache: Cache, problem: Problem) -> None:
    """NaN in keys and values that were rolled back does not change later outputs.

        o(x[t:]; after rollback of NaN) = o(x; causal)[t:]    with the window of the cache, if any

    Multiplying a value by a weight of zero does not remove it, because 0 * NaN is NaN. The value
    must be left out.
    """
    nothing = {
        name: np.full_like(getattr(problem, name), np.nan) for name in ("k_other", "v_other")
    }

    o = with_a_detour(cache, problem.but(**nothing), problem.place())

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))
