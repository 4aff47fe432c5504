"""Reading a text into a cache, step by step, and the texts that come of taking back and branching.

    o, state = read(cache, cache.begin(problem), problem.text, steps)

has the answers of all steps at the places of their tokens, and zeros where nothing was read.
"""

from dataclasses import replace

import numpy as np

from spec.cache.notation import Chunk, Problem, Text
from spec.cache.record import Cache, State
from spec.notation import Array, Call


def read(
    cache: Cache, state: State, text: Text, steps: Array, start: Array | int = 0
) -> tuple[Array, State]:
    """The answers to the tokens from `start` on, in so many at a time, and the state after.

    steps: (T, B)   start: (B,) or one for all   answers: (B, H, N, E), zeros elsewhere
    """
    B, H, N, _ = text.q.shape
    o = np.zeros((B, H, N, text.v.shape[-1]), np.longdouble)
    places = np.zeros(B, int) + start
    for counts in steps:
        answer, state = cache.extend(state, chunk(text, places, counts, state.problem.other))
        put(o, answer, places, counts)
        places = places + counts
    return o, state


def reading(cache: Cache, problem: Problem) -> Array:
    """The answers to the whole text of a problem, as it arrives.   (B, H, N, E)"""
    o, _ = read(cache, cache.begin(problem), problem.text, arriving(problem))
    return o


def reading_in_part(cache: Cache, problem: Problem) -> tuple[Array, Array]:
    """The answers to the first queries of each step, and where these are; zeros elsewhere.

    Fewer than all where there are several, and of every second step or so a single one, as one
    query has a path of its own in many programs.
    answers: (B, H, N, E)   where: (B, 1, N, 1)
    """
    state, places, chance = cache.begin(problem), 0 * problem.ends, problem.chance()
    o = np.zeros((*problem.q.shape[:3], problem.E), np.longdouble)
    asked = np.zeros((problem.B, 1, problem.N, 1), bool)
    for counts in arriving(problem):
        part = chunk(problem.text, places, counts, problem.other)
        few = chance.choice((1, chance.randrange(1, max(2, int(counts.max())))))
        answer, state = cache.fewer(state, part._replace(q=part.q[:, :, :few]))
        put(o, answer, places, counts)
        put(asked, np.ones((problem.B, 1, few, 1), bool), places, counts)
        places = places + counts
    return o, asked


def chunk(text: Text, start: Array, counts: Array, padding: Text) -> Chunk:
    """The tokens of each sequence from `start` on, so many, padded to the longest share.

    start, counts: (B,). Padding is text like any other, which tells it from zeros.
    """
    n = np.arange(int(counts.max()))
    at = np.minimum(start[:, None] + n, text.length - 1)[:, None, :, None]
    inside = (n < counts[:, None])[:, None, :, None]
    pairs = zip(text, padding, strict=True)
    q, k, v = (
        np.where(inside, np.take_along_axis(x, at, axis=2), beside[:, :, n % padding.length])
        for x, beside in pairs
    )
    return Chunk(q, k, v, counts)


def put(o: Array, answer: Array, start: Array, counts: Array) -> None:
    """Write the answers to a chunk to the places of its tokens in `o`, padding left out."""
    sequence, token = np.nonzero(np.arange(answer.shape[2]) < counts[:, None])
    o[sequence, :, start[sequence] + token] = answer[sequence, :, token]


def arriving(problem: Problem) -> Array:
    """The steps in which the whole text of a problem arrives.   (T, B)"""
    return problem.steps(0 * problem.ends, problem.ends)


def at_once(start: Array, stop: Array) -> Array:
    """One step for all tokens from `start` to `stop`, or none.   (1 or 0, B)"""
    counts = (stop - start)[None]
    return np.asarray(counts[counts.any(axis=1)])


def one_by_one(start: Array, stop: Array) -> Array:
    """Steps of one token each, of every sequence that has one left.   (T, B)"""
    n = stop - start
    return np.asarray(np.arange(int(n.max(initial=0)))[:, None] < n).astype(int)


def in_steps(problem: Problem, *steps: Array) -> Problem:
    """The problem, its text arriving in these steps, so that it says how it was read."""
    return problem.but(arrivals=np.vstack(steps))


def paused(problem: Problem, places: Array) -> Problem:
    """The problem, with a step that ends at a place in each sequence."""
    return in_steps(problem, problem.steps(0 * places, places), problem.steps(places, problem.ends))


def turning(state: State, places: Array, *steps: Array) -> State:
    """A state that goes on with the other text from these places, which is another problem."""
    before = state.problem.steps(0 * places, places)
    return replace(
        state, problem=in_steps(going_on_otherwise(state.problem, places), before, *steps)
    )


def alone(problem: Problem, sequence: int) -> Problem:
    """One sequence of the batch, and what arrives of it."""
    only = slice(sequence, sequence + 1)
    changes = {name: getattr(problem, name)[only] for name in problem.axes if name != "arrivals"}
    return problem.but(arrivals=problem.arrivals[:, only], **changes)


def going_on_otherwise(problem: Problem, places: Array) -> Problem:
    """A text that is the problem's up to a place in each sequence, and the other from there on."""
    B, M = problem.B, problem.M
    n = np.arange(problem.N + M)
    late = n >= places[:, None]
    at = np.where(late, problem.N + n - places[:, None], n).clip(0, problem.N + M - 1)
    spliced = {}
    for name, x, y in zip("qkv", problem.text, problem.other, strict=True):
        both = np.concatenate([x, y], axis=2)
        spliced[name] = np.take_along_axis(both, at[:, None, :, None], axis=2)
    longest = int(places.max(initial=0)) + M
    spliced = {name: x[:, :, :longest] for name, x in spliced.items()}
    return problem.but(**spliced, lengths=places + M, arrivals=np.zeros((0, B), int))


def watched(cache: Cache, problem: Problem) -> tuple[Array, list[Call]]:
    """The answers to the whole text, and each call; the caller uses its arrays again."""
    calls: list[Call] = []

    def extend(state: State, part: Chunk) -> tuple[Array, State]:
        call, after = cache.watched(state, part)
        calls.append(call)
        return call.out, after

    return reading(cache.but(extend=extend), problem), calls
