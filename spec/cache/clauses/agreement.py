"""Section C, continued. Decoding with a cache gives the rows of one causal pass.

Row t of a causal pass is the attention of token t to all keys so far (C12). A cache that keeps
those keys can compute the output of each token as it arrives. Tokens may arrive one at a time or
in chunks of any size. The outputs are the rows of one pass over the whole sequence:

    o(x_t; cache of x_0 ... x_(t-1)) = o(x; causal)_t

Comparing the two sides tests the cache and nothing else, because both compute the same
attention.
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
def token_by_token_equals_one_causal_pass(cache: Cache, problem: Problem) -> None:
    """Without a window, decoding token by token gives the outputs of one causal pass.

        o(x_t; cache of x_0 ... x_(t-1)) = o(x; causal)_t

    A token attends to all keys so far (C12), and the cache has kept them.
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
def any_chunking_equals_one_causal_pass(cache: Cache, problem: Problem) -> None:
    """Processing a sequence in chunks of any size gives the outputs of one causal pass.

        o(x[t:u]; cache of x[:t]) = o(x; causal)[t:u]

    A chunk is itself a causal problem, with u - t queries and u keys. Its causal diagonal has
    bottom-right alignment.
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
def prefill_then_decode_equals_one_causal_pass(cache: Cache, problem: Problem) -> None:
    """A prompt in one chunk, and then one token at a time, gives the outputs of one causal pass.

        o(x_t; cache of x[:p] at once, then x_p ... x_(t-1)) = o(x; causal)_t

    Here p is the length of the prompt. Prefill and decoding are separate code paths in most
    programs. They share only the cache.
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
def chunk_boundaries_do_not_change_outputs(cache: Cache, problem: Problem) -> None:
    """The outputs do not depend on how a sequence is split into chunks.

        o(x; split one way) = o(x; split another way)

    This needs no definition: the cache is compared with itself. A bug that affects every split
    in the same way (a wrong scale, a lost head) passes here, and C17 rejects it.
    """
    whole = in_steps(problem, at_once(0 * problem.ends, problem.ends))

    o, p = reading(cache, problem), reading(cache, whole)

    equal(o, p, within=2 * rounding.of_reading(problem))
