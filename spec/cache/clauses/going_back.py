"""Section C, continued. What was taken back was never there.

Speculative decoding reads tokens that it then takes back; a chat goes back to an earlier
turn. The first tokens stay, the others go:

    rollback(read(state, x), length before) = state

Caches do this by a number: the end of the text moves back, and what lies behind it stays
where it is, stale, until it is written over. So behind the end there may be anything, and
nothing of it may show: not as a key, not as a value, not as the place of the next token.
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


def with_a_detour(cache: Cache, problem: Problem, places: Array, *, slowly: bool = False) -> Array:
    """The answers to a text that is read up to `places`, then the other text, which is taken back.

    slowly: the other text is read token by token.
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
    over=Texts(),
    needs=ROLLBACK,
    catches={
        "takes_back_one_too_few",
        "takes_back_nothing",
        "writes_values_behind_what_was_taken_back",
        "sees_what_was_taken_back",
        "takes_back_one_too_many",
    },
    effort=2,
)
def what_was_taken_back_was_never_there(cache: Cache, problem: Problem) -> None:
    """A text that was left for another and taken up again has the answers of one pass.

        o(x[t:]; rollback of (cache of x[:t] and y) to t) = o(x; causal)[t:]

    Keys, values and the place of the next token all go back to where they were.
    """
    o = with_a_detour(cache, problem, problem.place())

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C24",
    over=Texts(),
    needs=ROLLBACK,
    catches={
        "takes_a_length_of_zero_for_none",
        "takes_back_one_too_few",
        "takes_back_nothing",
        "sees_what_was_taken_back",
    },
)
def everything_may_be_taken_back(cache: Cache, problem: Problem) -> None:
    """Taken back to its beginning, a cache is as if it were new.

        o(x; rollback of (cache of y) to 0) = o(x; causal)

    A length of zero is a length.
    """
    o = with_a_detour(cache, problem, 0 * problem.ends, slowly=True)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C25",
    over=Texts(),
    needs=ROLLBACK,
    catches={
        "sees_what_was_taken_back",
        "lowers_what_is_hidden_by_ten_thousand",
        "leaves_empty_places_a_little",
        "takes_back_one_too_few",
    },
    effort=2,
)
def stale_content_does_not_matter(cache: Cache, problem: Problem) -> None:
    """What was taken back does not change a bit of what follows, however large it was.

        o(x[t:]; after y was taken back) = o(x[t:]; after y' was)

    Keys that would win every softmax and values of a million lie behind the end. A weight that
    is small there, and not zero, shows.
    """
    places = problem.place()
    one, two = (problem.but(**overwhelming(problem, sign)) for sign in (1, -1))

    o, p = (with_a_detour(cache, version, places) for version in (one, two))

    same_bits(p, o)


def overwhelming(problem: Problem, sign: int) -> dict[str, Array]:
    """Another text, whose keys point to the last query (or away from it), as far as they may."""
    k, v = np.zeros_like(problem.k_other), np.zeros_like(problem.v_other)
    towards = np.sign(problem.q[:, :: problem.H // problem.G, -1:])
    longest = np.sqrt((np.concatenate([problem.q, problem.q_other], axis=2) ** 2).sum(axis=-1))
    reach = LARGEST_SCORE[problem.dtype] / (max(1.0, longest.max()) * np.sqrt(problem.D))
    most = LARGEST_ENTRY[problem.dtype]
    size = min(most, 2.0 ** float(np.floor(np.log2(reach))))
    k = rounded(k + sign * size * np.where(towards == 0, 1, towards), problem.dtype)
    return {"k_other": k, "v_other": v + sign * most}


@clause(
    "C26",
    over=Texts(),
    needs=ROLLBACK,
    catches={"takes_all_sequences_back_to_the_shortest", "takes_back_one_too_many"},
    effort=2,
)
def taking_nothing_back_changes_nothing(cache: Cache, problem: Problem) -> None:
    """Taken back to where they stand, all sequences go on as if nothing had been said.

        o(x[t:]; rollback of (cache of x[:t]) to t) = o(x[t:]; cache of x[:t])

    A batch is taken back together even if only one of its sequences has a reason.
    """
    places = problem.place()
    problem = paused(problem, places)
    steps = problem.steps(0 * places, places), problem.steps(places, problem.ends)

    o, state = read(cache, cache.begin(problem), problem.text, steps[0])
    p, _ = read(cache, cache.rollback(state, places), problem.text, steps[1], places)
    _, state = read(cache, cache.begin(problem), problem.text, steps[0])
    q, _ = read(cache, state, problem.text, steps[1], places)

    same_bits(p, q)
    equal(o + p, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C27",
    over=Texts(),
    needs=ROLLBACK,
    catches={"multiplies_what_is_hidden_by_zero"},
    force="should",
)
def stale_content_need_not_be_numbers(cache: Cache, problem: Problem) -> None:
    """NaN that was taken back leaves no trace.

        o(x[t:]; after NaN was taken back) = o(x; causal)[t:]

    A weight of zero does not hide a value, as 0 * NaN is NaN; leaving the value out does.
    """
    nothing = {
        name: np.full_like(getattr(problem, name), np.nan) for name in ("k_other", "v_other")
    }

    o = with_a_detour(cache, problem.but(**nothing), problem.place())

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))
