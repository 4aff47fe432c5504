"""Section C, continued. A window forgets what no token will see, and nothing else.

Where a token sees its own key and the W - 1 before it, a cache may forget the others, and most
do: keys lie in a ring of W places, where each is written over by the one that comes W later.
Tokens that come one by one never notice. A chunk does: when its last token was written, the keys
that its first token sees are gone.

    o(x; cache with a window) = o(x; causal, window of W keys)

So a chunk needs the W - 1 keys before it beside its own, whatever its length is.
"""

import numpy as np

from spec.cache import proofs, rounding
from spec.cache.domain import PIECES, Texts
from spec.cache.notation import Problem
from spec.cache.reading import in_steps, one_by_one, reading
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, same_bits

WINDOW = {Capability.WINDOW}


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
def a_window_is_one_pass_with_it(cache: Cache, problem: Problem) -> None:
    """Read token by token, a text has the answers of one pass with the window.

        o(x_t; cache of x_0 ... x_(t-1)) = o(x; causal, window)_t

    This is C16 for a cache that may forget: the last W keys are all that a token sees.
    """
    o = reading(cache, in_steps(problem, one_by_one(0 * problem.ends, problem.ends)))

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C42",
    over=Texts(windowed=True, least=3, arrivals=("prompt first", *PIECES * 3)),
    needs=WINDOW,
    catches={
        "has_windows_for_single_tokens_alone",
        "forgets_before_a_chunk_is_answered",
        "writes_round_the_ring_before_it_reads",
        "puts_the_corner_top_left",
        "sees_its_whole_chunk",
    },
    proof=proofs.a_chunk_needs_the_keys_of_its_first_window,
    effort=2,
)
def chunks_of_a_window_are_one_pass(cache: Cache, problem: Problem) -> None:
    """Read in chunks of any size, a text has the answers of one pass with the window.

        o(x[t:u]; cache of x[:t]) = o(x; causal, window)[t:u]

    Chunks shorter than the window, longer ones, and those that go round the ring: the first token
    of a chunk sees keys that its last no longer sees, and none that come later.
    """
    o = reading(cache, problem)

    equal(o, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C43",
    over=Texts(windowed=True, least=3),
    needs=WINDOW,
    catches={"forgets_nothing", "sees_one_key_beyond_its_window"},
    effort=2,
)
def what_has_left_the_window_is_not_seen(cache: Cache, problem: Problem) -> None:
    """What lies before the window of a token does not change a bit of its answer.

        o(x)_i = o(x')_i    where x and x' differ only up to t, and i >= t + W

    This is C20 to the other side: forgotten is forgotten, and no weight is left on it.
    """
    t = problem.chance().randrange(1, problem.N)
    early = (np.arange(problem.N) < t)[:, None]
    changed = {
        name: np.where(early, -np.flip(x, axis=2), x)
        for name, x in zip("qkv", problem.text, strict=True)
    }
    since = t - 1 + (problem.window or problem.N)

    before, after = reading(cache, problem), reading(cache, problem.but(**changed))

    same_bits(after[:, :, since:], before[:, :, since:])
