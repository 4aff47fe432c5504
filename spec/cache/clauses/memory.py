"""Section C, continued. A cache remembers only its own sequence.

A cache is meant to remember, so a bug can make it remember too much. It can keep the previous
sequence, because nothing reset it. It can contain the sequence of another cache, because both
write into one memory. It can hold arrays of its caller, which the caller reuses for the next
token. A correct cache begins empty, shares no memory, and keeps copies.
"""

import numpy as np

from spec.cache import rounding
from spec.cache.domain import Texts
from spec.cache.notation import Problem, Text
from spec.cache.reading import arriving, read, reading, watched
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, holds, same_bits


def turned(problem: Problem) -> Text:
    """A sequence of the same shapes with other content: the problem's, reversed and negated."""
    return Text(*(-np.flip(x, axis=2) for x in problem.text))


@clause(
    "C36",
    over=Texts(),
    catches={"starts_where_the_last_text_ended", "remembers_answers_by_shape"},
    promise="run",
)
def new_cache_starts_empty(cache: Cache, problem: Problem) -> None:
    """A new cache is empty, even if other caches were used before.

        o_3(x) = o_1(x)    for o_1(x), o_2(x'), o_3(x) in this order, each with a new cache

    The first and the third outputs have equal bits, and o_1(x) and o_2(x') match the definition. A
    memory that is looked up by shape would return o_1(x) for x' as well, which has the same shape.
    """
    other = problem.but(**dict(zip("qkv", turned(problem), strict=True)))

    first, between = reading(cache, problem), reading(cache, other)

    same_bits(reading(cache, problem), first)
    equal(first, rounding.reference(problem), within=rounding.of_reading(problem))
    equal(between, rounding.reference(other), within=rounding.of_reading(other))


@clause("C37", over=Texts(), catches={"shares_its_memory_between_caches"}, effort=2)
def interleaved_caches_are_independent(cache: Cache, problem: Problem) -> None:
    """Two caches that are used in turn do not influence each other.

        o(x; with x' processed step by step in another cache) = o(x; causal)

    Keys in an array that belongs to a class, a module or a kernel would be shared by both caches.
    """
    other = problem.but(**dict(zip("qkv", turned(problem), strict=True)))
    one, two, places = cache.begin(problem), cache.begin(other), 0 * problem.ends
    o = p = np.zeros((*problem.q.shape[:3], problem.E))

    for counts in arriving(problem):
        answers, one = read(cache, one, problem.text, counts[None], places)
        others, two = read(cache, two, other.text, counts[None], places)
        o, p, places = o + answers, p + others, places + counts

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))
    equal(p, rounding.reference(other), within=rounding.of_reading(other))


@clause(
    "C38",
    over=Texts(),
    needs={Capability.CALL},
    catches={
        "scales_queries_in_place",
        "answers_into_the_same_array",
        "answers_where_the_values_were",
    },
    effort=2,
)
def cache_neither_changes_nor_aliases_its_inputs(cache: Cache, problem: Problem) -> None:
    """No chunk is written to, and no output shares memory with a chunk or changes afterwards.

        q, k, v after = q, k, v before, and o after the next chunk = o before, to the bit

    This is T1 and T2 for a cache. Because a cache keeps memory, such bugs are likely.
    """
    _, calls = watched(cache, problem)

    for call in calls:
        changed, aliased = ", ".join(call.changed), ", ".join(call.aliased)
        holds(not changed, f"a chunk was written to: {changed}")
        holds(not aliased, f"an output shares memory with a chunk: {aliased}")
        holds(not call.reused, "an output changed during the next call")


@clause(
    "C39", over=Texts(), needs={Capability.CALL}, catches={"keeps_the_callers_arrays"}, effort=2
)
def caller_may_reuse_its_arrays_after_a_step(cache: Cache, problem: Problem) -> None:
    """If a caller overwrites its arrays after a step, later outputs do not change.

        o(x) = o(x; causal)    where each chunk is overwritten after its step

    Many programs that decode use one array again for each new token.
    """
    o, _ = watched(cache, problem)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause("C57", over=Texts(full=True), catches={"keeps_one_place_free", "drops_all_of_a_last_chunk"})
def cache_may_be_filled_to_its_capacity(cache: Cache, problem: Problem) -> None:
    """A full cache gives the same outputs as one with room to spare.

        o(x; a cache with room for N tokens) = o(x; causal)    for a sequence x of N tokens

    The last token that fits is the one at which a comparison with the capacity may be off by one.
    Other clauses leave room behind the sequence.
    """
    o = reading(cache, problem)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))
