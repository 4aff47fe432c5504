"""Section C, continued. Decoding with a cache is decoding without one.

Row t of a causal pass is the attention of token t to all keys so far (C12). A cache that
keeps those keys can answer each token as it comes, one at a time or in chunks of any size,
and its answers are the rows of one pass over the whole text:

    o(x_t; cache of x_0 ... x_(t-1)) = o(x; causal)_t

Whoever holds the first against the second has tested the cache and nothing else, as both
are the same attention.
"""

from spec.cache import proofs, rounding
from spec.cache.domain import Texts
from spec.cache.notation import Problem
from spec.cache.reading import at_once, in_steps, one_by_one, reading
from spec.cache.record import Cache
from spec.clause import clause
from spec.comparison import equal


@clause(
    "C16",
    over=Texts(),
    catches={
        "keeps_the_first_chunk_only",
        "sees_only_its_own_chunk",
        "writes_every_chunk_to_the_front",
        "scales_by_the_length_so_far",
        "hides_the_present_token",
        "keeps_keys_in_half_precision",
        "looks_up_the_second_page_wrongly",
        "puts_the_corner_top_left",
    },
    proof=proofs.a_token_is_a_row_of_one_pass,
)
def token_by_token_is_one_pass(cache: Cache, problem: Problem) -> None:
    """Read token by token, a text has the answers of one causal pass.

        o(x_t; cache of x_0 ... x_(t-1)) = o(x; causal)_t

    The keys so far are all that a token sees (C12), and the cache has kept them.
    """
    steps = one_by_one(0 * problem.ends, problem.ends)

    o = reading(cache, in_steps(problem, steps))

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C17",
    over=Texts(),
    catches={
        "sees_its_whole_chunk",
        "puts_the_corner_top_left",
        "drops_the_last_token_of_a_chunk",
        "keeps_the_first_chunk_only",
        "writes_every_chunk_to_the_front",
    },
    proof=proofs.chunks_are_rows_of_one_pass,
)
def any_chunks_are_one_pass(cache: Cache, problem: Problem) -> None:
    """Read in chunks of any size, a text has the answers of one causal pass.

        o(x[t:u]; cache of x[:t]) = o(x; causal)[t:u]

    A chunk is a causal problem of its own, with u - t queries and u keys, whose diagonal ends
    in the bottom-right corner.
    """
    o = reading(cache, problem)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C18",
    over=Texts(least=2),
    catches={
        "sees_its_whole_chunk",
        "drops_the_last_token_of_a_chunk",
        "keeps_the_first_chunk_only",
        "sees_only_its_own_chunk",
    },
)
def a_prompt_may_be_read_at_a_stroke(cache: Cache, problem: Problem) -> None:
    """After a prompt that was read in one chunk, tokens that come one by one see all of it.

        o(x_t; cache of x[:p] at once, then x_p ... x_(t-1)) = o(x; causal)_t

    Prefill and decoding are paths of their own in most programs, and meet in the cache.
    """
    prompt = problem.place()
    steps = at_once(0 * prompt, prompt), one_by_one(prompt, problem.ends)

    o = reading(cache, in_steps(problem, *steps))

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C19",
    over=Texts(least=2),
    catches={
        "puts_the_corner_top_left",
        "sees_its_whole_chunk",
        "drops_the_last_token_of_a_chunk",
        "sees_only_its_own_chunk",
        "scales_by_the_length_so_far",
    },
    effort=2,
)
def two_ways_of_arriving_agree(cache: Cache, problem: Problem) -> None:
    """How a text is cut into chunks does not change its answers.

        o(x; cut one way) = o(x; cut another way)

    This needs no definition: a cache can be held against itself. A fault that every way has in
    common (a wrong scale, a lost head) passes here, and C17 rejects it.
    """
    whole = in_steps(problem, at_once(0 * problem.ends, problem.ends))

    o, p = reading(cache, problem), reading(cache, whole)

    equal(o, p, within=2 * rounding.of_reading(problem))
