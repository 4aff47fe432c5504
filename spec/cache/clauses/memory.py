"""Section C, continued. A cache remembers one text, and nothing else.

It is there to remember, and so it may remember too much: the text before, because nobody
reset it; that of another cache, because both write into one memory; arrays that belong to
its caller, who uses them for the next token. A cache begins empty, is alone, and keeps
copies.
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
    """A text of the same shapes with other content: the problem's, read backwards and negated."""
    return Text(*(-np.flip(x, axis=2) for x in problem.text))


@clause(
    "C36", over=Texts(), catches={"starts_where_the_last_text_ended", "remembers_answers_by_shape"}
)
def every_text_begins_with_nothing(cache: Cache, problem: Problem) -> None:
    """A cache that is begun after others were used is empty.

        o(x), o(x'), o(x), each in a cache begun for it, and the last is the first

    o(x) and o(x') are compared with the definition too: a memory whose key is the shape repeats
    o(x) faithfully, and gives it to x' as well.
    """
    other = problem.but(**dict(zip("qkv", turned(problem), strict=True)))

    first, between = reading(cache, problem), reading(cache, other)

    same_bits(reading(cache, problem), first)
    equal(first, rounding.reference(problem), within=rounding.of_reading(problem))
    equal(between, rounding.reference(other), within=rounding.of_reading(other))


@clause("C37", over=Texts(), catches={"shares_its_memory_between_caches"}, effort=2)
def caches_do_not_meet(cache: Cache, problem: Problem) -> None:
    """Two caches that are used by turns each read a text of their own.

        o(x) with x' read in between, step for step, in another cache, is o(x; causal)

    What belongs to a class, a module or a kernel belongs to both.
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
def the_arrays_of_the_caller_are_its_own(cache: Cache, problem: Problem) -> None:
    """No chunk is written to, no answer lies in the memory of a chunk, or changes afterwards.

        q, k, v after = q, k, v before, and o after the next chunk = o before, to the bit

    This is T1 and T2 for a cache, which has good reason to keep memory.
    """
    _, calls = watched(cache, problem)

    for call in calls:
        changed, aliased = ", ".join(call.changed), ", ".join(call.aliased)
        holds(not changed, f"a chunk was written to: {changed}")
        holds(not aliased, f"an answer shares memory with a chunk: {aliased}")
        holds(not call.reused, "an answer changed when the next one came")


@clause(
    "C39", over=Texts(), needs={Capability.CALL}, catches={"keeps_the_callers_arrays"}, effort=2
)
def the_caller_may_use_its_arrays_again(cache: Cache, problem: Problem) -> None:
    """What a caller writes into its arrays after they were read is none of the cache's concern.

        o(x) = o(x; causal)    though each chunk is overwritten once it was answered

    Programs that decode use one array for all tokens.
    """
    o, _ = watched(cache, problem)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))
