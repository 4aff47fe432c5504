"""Section C, continued. A chunk attends to the whole past, and to itself causally.

For a chunk of n tokens after m others, there are two alignments of the causal diagonal. With
bottom-right alignment, token i of the chunk attends to the keys up to m + i: the past, and its
chunk up to itself. With top-left alignment it attends to the keys up to i only. It then loses
keys, and more of them the longer the past is. For m = 0 the two alignments are the same. The
tokens of a chunk also have an order: its first token must not attend to its last.

    nothing too late     what comes after token t does not change its output
    nothing too little   the last token of a chunk attends to everything so far
    everything once      for q = 0 the output is the mean of all values so far
    fewer queries        the first queries of a chunk have the same outputs without the others
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.cache import proofs
from spec.cache import rounding as budgets
from spec.cache.domain import PIECES, Texts
from spec.cache.notation import Problem
from spec.cache.reading import alone, arriving, reading, reading_in_part
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, same_bits


def with_later_tokens(problem: Problem) -> tuple[int, Problem]:
    """A time t, and the problem with other tokens from t on."""
    t, n = problem.chance().randrange(1, problem.N), np.arange(problem.N)
    late, there = (n >= t)[:, None], n % problem.M
    changed = {
        name: np.where(late, other[:, :, there], x)
        for name, x, other in zip("qkv", problem.text, problem.other, strict=True)
    }
    return t, problem.but(**changed)


@clause(
    "C20",
    over=Texts(least=2),
    catches={"sees_its_whole_chunk", "leaves_empty_places_a_little"},
    promise="length",
)
def cached_outputs_do_not_depend_on_later_tokens(cache: Cache, problem: Problem) -> None:
    """Changing later tokens, in the same chunk or in later chunks, changes no bit of an output.

        o(x)_i = o(x')_i    where the sequences x and x' differ only from token t > i on

    This is C3 for a cache. If t lies inside a chunk, the later tokens arrive together with the
    earlier ones, and the cache must still mask them.
    """
    t, other = with_later_tokens(problem)

    before, after = reading(cache, problem), reading(cache, other)

    same_bits(after[:, :, :t], before[:, :, :t])


@clause(
    "C21",
    over=Texts(least=2),
    catches={
        "puts_the_corner_top_left",
        "hides_the_present_token",
        "drops_the_last_token_of_a_chunk",
        "sees_only_its_own_chunk",
    },
    effort=2,
)
def last_token_of_chunk_attends_to_all_tokens(cache: Cache, problem: Problem) -> None:
    """The last token of a chunk attends to all tokens so far, as it would without causality.

        o(x[t:u]; cache of x[:t])_(u-1) = o(q_(u-1); k[:u], v[:u])

    This is C6 for a cache. With top-left alignment of the causal diagonal, keys are lost in every
    chunk but the first. In the first chunk both alignments are the same.
    """
    ends = np.cumsum(arriving(problem)[:, 0])
    u = int(ends[problem.chance().below(len(ends))])
    whole = budgets.one_pass(alone(problem, 0)).but(causal=False)
    row = moves.of_keys(moves.of_queries(whole, slice(u - 1, u)), slice(u))

    o = reading(cache, problem)[:1, :, u - 1 : u]

    equal(o, rounding.reference(row).o, within=rounding.of_output(row))


@clause(
    "C22",
    over=Texts(families=("lattice", "normal", "offset"), least=9),
    catches={
        "loses_the_last_token_when_it_grows",
        "grows_without_regard_to_heads",
        "writes_round_a_ring",
        "looks_up_the_second_page_wrongly",
        "writes_every_chunk_to_the_front",
    },
    proof=proofs.every_token_counts_once,
    effort=2,
)
def zero_queries_give_running_mean_of_values(cache: Cache, problem: Problem) -> None:
    """If all queries are zero, each output is the mean of all values so far.

        o_t = (v_0 + ... + v_t) / (t + 1)    for q = 0

    This is C8 for a cache. All tokens have the same weight here, so none can be lost unnoticed.
    A token that is lost where the memory grows (at 8, 16, 32 or 64 tokens), overwritten or counted
    twice changes every later mean.
    """
    flat = problem.but(q=0 * problem.q)
    v = definition.shared(flat.v, flat.H).astype(np.longdouble)

    o = reading(cache, flat)

    mean = np.cumsum(v, axis=2) / np.arange(1, flat.N + 1)[:, None]
    equal(o, np.where(flat.real, mean, 0), within=budgets.of_reading(flat))


@clause(
    "C40",
    over=Texts(least=2, arrivals=PIECES),
    needs={Capability.FEWER},
    catches={
        "takes_queries_for_the_last_tokens",
        "lets_a_single_query_see_everything",
        "reads_as_many_keys_as_there_are_queries",
        "puts_the_corner_top_left",
        "sees_its_whole_chunk",
    },
    proof=proofs.first_queries_need_no_others,
    effort=2,
)
def chunk_may_have_fewer_queries_than_keys(cache: Cache, problem: Problem) -> None:
    """If a chunk has queries for its first tokens only, their outputs are those of a full chunk,
    and the cache keeps all keys and values of the chunk.

        o(q[t:s]; cache of x[:t], k[t:u], v[t:u]) = o(x; causal)[t:s]    for s <= u

    Query i of the chunk has the position t + i, so it attends to key j where j <= t + i. Here t is
    the number of earlier tokens, not the number of keys minus the number of queries.
    """
    o, asked = reading_in_part(cache, problem)

    want, within = budgets.reference(problem), budgets.of_reading(problem)
    equal(o, asked * want, within=asked * within)
