"""Section C, continued. A rolling cache discards only keys that no later token needs.

With a window, a token attends to its own key and the W - 1 before it. A cache may discard the
others, and most do: keys lie in a ring of W positions, where each key is overwritten by the one
that comes W later. This is safe if tokens come one by one. It is wrong for a chunk: once its
last token is written, keys that its first token attends to are gone.

    o(x; cache with a window) = o(x; causal, window of W keys)

So a chunk needs its own keys and the W - 1 keys before it, whatever its length is.
"""

import numpy as np

from spec.cache import proofs, rounding
from spec.cache.domain import PIECES, ROUND, Texts
from spec.cache.notation import Problem
from spec.cache.reading import in_steps, one_by_one, reading
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, same_bits

WINDOW = {Capability.WINDOW}


def with_earlier_tokens(problem: Problem) -> tuple[int, Problem, Problem]:
    """A token that sees none of some first ones, a problem, and it with others of these tokens.

    Its window is shorter than the sequence, so that there is such a token.
    """
    W = min(problem.window or problem.N, problem.N - 1)
    t = problem.chance().randrange(1, problem.N - W + 1)
    early = (np.arange(problem.N) < t)[:, None]
    changed = {
        name: np.where(early, -np.flip(x, axis=2), x)
        for name, x in zip("qkv", problem.text, strict=True)
    }
    return t - 1 + W, problem.but(window=W), problem.but(window=W, **changed)


@clause(
    "C41",
    over=Texts(windowed=True, least=3),
    needs=WINDOW,
    catches={
        "forgets_nothing",
        "sees_one_key_beyond_its_window",
        "forgets_one_key_too_early",
        "hides_the_present_token",
    },
)
def windowed_cache_equals_one_windowed_pass(cache: Cache, problem: Problem) -> None:
    """Decoding a sequence token by token gives the outputs of one pass with the window.

        o(x_t; cache of x_0 ... x_(t-1)) = o(x; causal, window)_t

    This is C16 for a cache that may discard keys: with a window of W keys, a token attends to its
    own key and the W - 1 before it.
    """
    o = reading(cache, in_steps(problem, one_by_one(0 * problem.ends, problem.ends)))

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C42",
    over=Texts(windowed=True, least=5, arrivals=(ROUND, *PIECES, ROUND, "prompt first")),
    needs=WINDOW,
    catches={
        "has_windows_for_single_tokens_alone",
        "forgets_before_a_chunk_is_answered",
        "writes_round_the_ring_before_it_reads",
        "joins_a_chunk_to_an_unsorted_ring",
        "puts_the_corner_top_left",
        "sees_its_whole_chunk",
    },
    proof=proofs.a_chunk_needs_the_keys_of_its_first_window,
    effort=2,
)
def chunked_windowed_cache_equals_one_pass(cache: Cache, problem: Problem) -> None:
    """Processing a sequence in chunks of any size gives the outputs of one pass with the window.

        o(x[t:u]; cache of x[:t]) = o(x; causal, window)[t:u]

    Chunks are shorter or longer than the window. If the cache is a ring, in which new keys
    overwrite the oldest, a chunk may wrap around its end. The first token of a chunk may attend to
    keys that its last token no longer attends to, and never to later keys.
    """
    o = reading(cache, problem)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C43",
    over=Texts(windowed=True, least=3),
    needs=WINDOW,
    catches={"forgets_nothing", "sees_one_key_beyond_its_window"},
    promise="length",
)
def tokens_before_window_do_not_change_outputs(cache: Cache, problem: Problem) -> None:
    """Changing tokens that lie before the window of a token changes no bit of its output.

        o(x)_i = o(x')_i    where x and x' differ only in tokens 0 to t, and i >= t + W

    Here W is the number of keys in the window, the token's own included. This is C20 in the other
    direction: a key outside the window has a weight of exactly zero.
    """
    since, problem, other = with_earlier_tokens(problem)

    before, after = reading(cache, problem), reading(cache, other)

    same_bits(after[:, :, since:], before[:, :, since:])
