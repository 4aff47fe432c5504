"""Section C, continued. Forked caches share a prefix and are independent afterwards.

Beam search continues one prefix in several ways. A server processes a shared prompt once
and forks the cache for each request. A fork is a cache that has processed the same tokens, and
from then on neither of the two affects the other:

    extend(fork(state), y) = extend(state, y), and state can still be extended by x

A state that never changes is its own fork. Such a cache can promise more: any earlier state may
be used again.
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
ANY_WINDOW = Texts(windowed=None)


def since(problem: Problem, places: Array) -> Array:
    """True at and after the position where the branches of a sequence part.   (B, 1, N, 1)"""
    return np.asarray(np.arange(problem.N) >= places[:, None])[:, None, :, None]


def moved(o: Array, places: Array, to: Problem) -> Array:
    """The outputs of the other sequence, moved to its positions after the shared prefix."""
    found = np.zeros((*to.q.shape[:3], to.E), o.dtype)
    put(found, o, places, np.full(to.B, to.M))
    return found


@clause(
    "C28",
    over=ANY_WINDOW,
    needs=BRANCHES,
    catches={
        "branches_into_the_same_memory",
        "branches_into_itself",
        "branches_without_the_last_token",
        "branches_without_the_window",
    },
    effort=2,
)
def forked_caches_are_independent(cache: Cache, problem: Problem) -> None:
    """A cache and its fork, extended in turn by different tokens, give the outputs of two separate
    sequences.

        o(y; fork of cache of x[:t]) = o(x[:t] y; causal)[t:]

    Here x[:t] y is the prefix and then y. Between two parts of y, the original cache processes
    x[t:] and gives o(x; causal)[t:]. Each pass has the window of the cache, if there is one.
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


def in_two_forks(cache: Cache, problem: Problem) -> tuple[Problem, Array, Array]:
    """The outputs of two forks of a prefix, and the problem whose steps they take.

    A third fork processes other tokens in between.
    """
    places = problem.place()
    past, rest = at_once(0 * places, places), problem.steps(places, problem.ends)
    other = at_once(places, places + problem.M)
    problem = in_steps(problem, past, rest)
    _, state = read(cache, cache.begin(problem), problem.text, past)
    one, between, two = cache.fork(state), cache.fork(state), cache.fork(state)

    o, _ = read(cache, one, problem.text, rest, places)
    read(cache, turning(between, places, other), problem.other, other)
    p, _ = read(cache, two, problem.text, rest, places)
    return problem, o, p


def from_one_state(cache: Cache, problem: Problem) -> tuple[Problem, Array, Array]:
    """The outputs of a state that is extended twice, by other tokens in between; the problem."""
    places = problem.place()
    rest, other = problem.steps(places, problem.ends), at_once(places, places + problem.M)
    problem = paused(problem, places)
    _, state = read(cache, cache.begin(problem), problem.text, problem.steps(0 * places, places))

    o, _ = read(cache, state, problem.text, rest, places)
    read(cache, turning(state, places, other), problem.other, other)
    p, _ = read(cache, state, problem.text, rest, places)
    return problem, o, p


@clause(
    "C29",
    over=ANY_WINDOW,
    needs=BRANCHES,
    catches={
        "branches_into_itself",
        "branches_without_the_last_token",
        "branches_without_the_window",
    },
    promise="run",
)
def shared_prefix_gives_same_outputs_in_every_fork(cache: Cache, problem: Problem) -> None:
    """Two forks of a cached prefix give the same outputs, bit for bit, and these are the outputs of
    one pass over the whole sequence.

        o(x[t:]; first fork of cache of x[:t]) = o(x[t:]; second fork) = o(x; causal)[t:]

    So reuse of a cached prefix changes only the cost. Both forks process the same tokens in the
    same shapes. A third fork processes other tokens in between. The pass has the same window.
    """
    here = since(problem, problem.place())

    problem, o, p = in_two_forks(cache, problem)

    same_bits(p, o)
    equal(o, here * rounding.reference(problem), within=here * rounding.of_reading(problem))


@clause(
    "C58", over=ANY_WINDOW, needs=BRANCHES, catches={"adds_a_shared_prefix_apart"}, promise="prefix"
)
def reused_prefix_gives_bits_of_one_read_anew(cache: Cache, problem: Problem) -> None:
    """A fork of a cached prefix gives the same outputs, bit for bit, as a cache that reads the
    prefix itself.

        o(x[t:]; fork of cache of x[:t]) = o(x[t:]; cache of x[:t])

    Both caches get the same tokens in the same steps. A program that adds a shared prefix and the
    tokens of a sequence apart, and merges them, adds in another order. C29 allows rounding errors.
    """
    places = problem.place()
    past, rest = problem.steps(0 * places, places), problem.steps(places, problem.ends)
    problem = in_steps(problem, past, rest)
    _, shared = read(cache, cache.begin(problem), problem.text, past)
    _, own = read(cache, cache.begin(problem), problem.text, past)

    o, _ = read(cache, cache.fork(shared), problem.text, rest, places)
    p, _ = read(cache, own, problem.text, rest, places)

    same_bits(o, p)


@clause(
    "C30",
    over=ANY_WINDOW,
    needs={Capability.PERSISTENT},
    catches={"promises_what_it_does_not_keep"},
    promise="run",
)
def persistent_states_can_be_reused(cache: Cache, problem: Problem) -> None:
    """If a cache promises that states never change, extending a state again by the same tokens
    gives the same outputs, bit for bit.

        o'(x[t:]; s) = o(x[t:]; s)    o' after the same state s was extended by other tokens

    Purely functional programs rely on such a promise.
    """
    _, o, p = from_one_state(cache, problem)

    same_bits(p, o)
