"""Section C, continued. A chunk sees the whole past, and its own tokens up to each.

For n tokens after m others there are two corners to hang the diagonal in. In the
bottom-right one token i of the chunk sees the keys up to m + i: the past and itself. In the
top-left one it sees the keys up to i, and so loses the past, all the more the longer it is;
for m = 0 the two are the same. And a chunk may not be read as a heap: its first token came
before its last.

    nothing too late     what comes after token t does not change its answer
    nothing too little   the last token of a chunk sees everything so far
    everything once      for q = 0 the answer is the mean of all values so far
    and in its place     the first queries of a chunk are answered as if all of them were there
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


@clause(
    "C20",
    over=Texts(least=2),
    catches={"sees_its_whole_chunk", "leaves_empty_places_a_little"},
    effort=2,
)
def later_tokens_of_a_chunk_are_not_seen(cache: Cache, problem: Problem) -> None:
    """What comes after a token, in its own chunk or later, does not change a bit of its answer.

        o(x)_i = o(x')_i    where x and x' differ only from t > i on

    This is C3 for a cache. It bites where t lies inside a chunk.
    """
    t = problem.chance().randrange(1, problem.N)
    n = np.arange(problem.N)
    late, there = (n >= t)[:, None], n % problem.M
    changed = {
        name: np.where(late, other[:, :, there], x)
        for name, x, other in zip("qkv", problem.text, problem.other, strict=True)
    }

    before, after = reading(cache, problem), reading(cache, problem.but(**changed))

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
def the_last_token_of_a_chunk_sees_everything(cache: Cache, problem: Problem) -> None:
    """The last token of a chunk attends to all that was read, without any mask.

        o(x[t:u]; cache of x[:t])_(u-1) = o(q_(u-1); k[:u], v[:u])

    This is C6 for a cache: it settles the corner, which the first chunk leaves open.
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
def every_token_counts_once(cache: Cache, problem: Problem) -> None:
    """For queries of zeros each answer is the mean of all values so far.

        o_t = (v_0 + ... + v_t) / (t + 1)    for q = 0

    This is C8 for a cache. No token is too light to be missed: one that is lost where the memory
    grows, at 8, 16, 32 or 64 tokens, or written over, or counted twice, moves every later mean.
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
def first_queries_need_no_others(cache: Cache, problem: Problem) -> None:
    """A step that asks for its first tokens alone has their answers, and keeps all its keys.

        o(q[t:s]; cache of x[:t], k[t:u], v[t:u]) = o(x; causal)[t:s]    for s <= u

    Query i of a step stands where its token i does: it sees key j where j <= t + i, and t is how
    many came before, not how many keys there are beyond the queries.
    """
    o, asked = reading_in_part(cache, problem)

    want, within = budgets.reference(problem), budgets.of_reading(problem)
    equal(o, asked * want, within=asked * within)
