"""Section C, continued. A past may be shared, and is read once.

Beam search goes on from one past in several ways; a server reads a prompt that many
requests begin with once, and hands the cache on. A branch is a cache that has read the
same, and from there on the two know nothing of each other:

    reading y in fork(state) is reading y in state, and state may still read x

A state that nothing changes is its own branch. It is then worth a promise: any earlier
state may be used again.
"""

import numpy as np

from spec.cache import rounding
from spec.cache.domain import Texts
from spec.cache.notation import Problem
from spec.cache.reading import at_once, in_steps, one_by_one, paused, put, read, turning
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.notation import Array

BRANCHES = {Capability.FORK}


def since(problem: Problem, places: Array) -> Array:
    """True behind the places where branches part.   (B, 1, N, 1)"""
    return np.asarray(np.arange(problem.N) >= places[:, None])[:, None, :, None]


def moved(o: Array, places: Array, to: Problem) -> Array:
    """Answers to the other text, at its places in the text that it continues."""
    found = np.zeros((*to.q.shape[:3], to.E), o.dtype)
    put(found, o, places, np.full(to.B, to.M))
    return found


@clause(
    "C28",
    over=Texts(),
    needs=BRANCHES,
    catches={
        "branches_into_the_same_memory",
        "branches_into_itself",
        "branches_without_the_last_token",
    },
    effort=2,
)
def branches_do_not_meet(cache: Cache, problem: Problem) -> None:
    """Two branches of one past, that go on by turns, have the answers of two texts.

        o(y; fork of cache of x[:t]) = o(x[:t] y; causal)[t:]    while x[t:] is read beside it

    Neither the branch nor what it came from sees what the other reads.
    """
    places, text = problem.place(), problem.text
    half, end = places + problem.M // 2, places + problem.M
    before, after = problem.steps(0 * places, places), one_by_one(places, problem.ends)
    problem = in_steps(problem, before, after)
    _, state = read(cache, cache.begin(problem), text, before)
    parts = at_once(places, half), at_once(half, end)
    branch = turning(cache.fork(state), places, *parts)
    other = branch.problem

    o, branch = read(cache, branch, problem.other, parts[0])
    p, _ = read(cache, state, text, after, places)
    q, _ = read(cache, branch, problem.other, parts[1], half - places)

    here, there = since(problem, places), since(other, places)
    equal(p, here * rounding.reference(problem), within=here * rounding.of_reading(problem))
    want, within = there * rounding.reference(other), there * rounding.of_reading(other)
    equal(moved(o + q, places, other), want, within=within)


@clause(
    "C29",
    over=Texts(),
    needs=BRANCHES,
    catches={"branches_into_itself", "branches_without_the_last_token"},
)
def a_past_may_be_read_once_for_many(cache: Cache, problem: Problem) -> None:
    """Whoever goes on from a past that was kept has the answers of having read it himself.

        o(x[t:]; first fork of cache of x[:t]) = o(x[t:]; second fork) = o(x; causal)[t:]

    A hit in a cache of prefixes is a miss that costs less. The branches ask the same, in equal
    shapes, and so are answered alike to the bit; another one reads something else in between.
    """
    places, here = problem.place(), since(problem, problem.place())
    past, rest = at_once(0 * places, places), problem.steps(places, problem.ends)
    other = at_once(places, places + problem.M)
    problem = in_steps(problem, past, rest)
    _, state = read(cache, cache.begin(problem), problem.text, past)
    one, between, two = cache.fork(state), cache.fork(state), cache.fork(state)

    o, _ = read(cache, one, problem.text, rest, places)
    read(cache, turning(between, places, other), problem.other, other)
    p, _ = read(cache, two, problem.text, rest, places)

    same_bits(p, o)
    equal(o, here * rounding.reference(problem), within=here * rounding.of_reading(problem))


@clause(
    "C30", over=Texts(), needs={Capability.PERSISTENT}, catches={"promises_what_it_does_not_keep"}
)
def an_earlier_state_may_be_used_again(cache: Cache, problem: Problem) -> None:
    """Where a cache promises that states stay as they were, going on twice gives the same twice.

        o(x[t:]; s) = o(x[t:]; s)    for one state s, with another text read from s in between

    A promise of this kind is what programs without assignment rely on.
    """
    places = problem.place()
    rest, other = problem.steps(places, problem.ends), at_once(places, places + problem.M)
    problem = paused(problem, places)
    _, state = read(cache, cache.begin(problem), problem.text, problem.steps(0 * places, places))

    o, _ = read(cache, state, problem.text, rest, places)
    read(cache, turning(state, places, other), problem.other, other)
    p, _ = read(cache, state, problem.text, rest, places)

    same_bits(p, o)
