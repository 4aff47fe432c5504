"""Section C, continued. Whole sequence, chunks and single tokens give the same result.

Earlier outputs do not change when later tokens follow (C1). Each output can therefore
be computed once, when its token arrives, from the keys so far. Decoding with a cache
gives the same result as decoding without one.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.causality import FULL, SQUARE, WITH_A_FUTURE, with_another_future
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


def prefix(problem: Problem, length: int) -> Problem:
    """Return the problem restricted to its first `length` tokens."""
    return moves.of_keys(moves.of_queries(problem, slice(0, length)), slice(0, length))


@clause(
    "C1",
    over=SQUARE,
    catches={"ignores_causality", "sees_one_key_ahead", "forgets_causality_without_a_mask"},
    proof=exactly.causal_prefixes_are_consistent,
)
def causal_prefix_gives_prefix_of_output(attention: Implementation, problem: Problem) -> None:
    """Causal attention over the first t tokens gives the first t outputs of the whole sequence.

        o(x[:t])_i = o(x)_i    for i < t, where x are q, k and v

    This is why decoding with a KV cache gives the same result as decoding without one.
    """
    start = prefix(problem, problem.chance().randrange(1, problem.N + 1))
    t = start.N

    whole, part = attention.forward(problem), attention.forward(start)

    within = rounding.of_output(problem)[:, :, :t] + rounding.of_output(start)
    equal(part, whole[:, :, :t], within=within)


@clause(
    "C6",
    over=FULL,
    needs={Capability.FUTURE},
    catches={"hides_the_past", "hides_the_present", "bounds_packed_rows"},
    proof=exactly.the_last_query_sees_all_keys,
)
def last_token_attends_to_the_whole_sequence(attention: Implementation, problem: Problem) -> None:
    """If N = M, causality masks no key for the last query.

        o(causal)_(N-1) = o_(N-1)    for N = M

    An implementation that masks the distant past would satisfy C1 to C4.
    """
    full = moves.of_queries(problem, [problem.N - 1]).but(causal=False)

    o, p = attention.forward(problem), attention.forward(full)

    within = rounding.of_output(problem)[:, :, -1:] + rounding.of_output(full)
    equal(o[:, :, -1:], p, within=within)


@clause(
    "C12",
    over=FULL,
    needs={Capability.FUTURE},
    catches={
        "bounds_packed_rows",
        "skips_ranks_that_come_later",
        "hides_the_present",
        "forgets_causality_without_a_mask",
        "swaps_queries_and_keys",
    },
    effort=2,
)
def token_by_token_decoding_equals_causal_attention(
    attention: Implementation, problem: Problem
) -> None:
    """Query t over the first t + 1 keys, without causality, gives row t of causal attention.

        o(q_t; k[:t+1], v[:t+1]) = o(q, k, v; causal)_t

    Row t is the last row of its prefix (C1), and the last row attends to all keys (C6).
    """
    t = problem.chance().below(problem.N)
    step = moves.of_keys(moves.of_queries(problem, [t]), slice(0, t + 1)).but(causal=False)

    whole, one = attention.forward(problem), attention.forward(step)

    within = rounding.of_output(problem)[:, :, t : t + 1] + rounding.of_output(step)
    equal(one, whole[:, :, t : t + 1], within=within)


@clause(
    "C13",
    over=replace(FULL, least=(1, 1, 2, 2)),
    needs={Capability.MASK, Capability.FUTURE},
    catches={"hides_the_present", "bounds_packed_rows", "hides_the_past"},
)
def chunked_prefill_equals_causal_attention(attention: Implementation, problem: Problem) -> None:
    """A chunk of queries with all keys so far gives the outputs of full causal attention.

        o(q[t:u]; k[:u], v[:u]; mask j <= t + i) = o(q, k, v; causal)[t:u]

    The chunk holds the queries t to u - 1. Its row i is query t + i, which attends to the keys 0 to
    t + i. A causal mask with top-left alignment would leave it only the keys 0 to i.
    """
    t, u = np.sort(problem.chance().integers(0, problem.N + 1, 2))
    u = max(u, t + 1) if t < problem.N else u
    t = min(t, u - 1)
    rows = np.arange(t, u)
    chunk = moves.of_keys(moves.of_queries(problem, rows), slice(0, u))
    chunk = chunk.but(causal=False, mask=np.arange(u)[None, :] <= rows[:, None])

    whole, part = attention.forward(problem), attention.forward(chunk)

    within = rounding.of_output(problem)[:, :, t:u] + rounding.of_output(chunk)
    equal(part, whole[:, :, t:u], within=within)


@clause(
    "C44",
    over=WITH_A_FUTURE,
    catches={"ignores_causality", "lets_the_mask_replace_causality", "allows_what_either_allows"},
    effort=2,
)
def future_keys_leave_no_trace_in_earlier_outputs(
    attention: Implementation, problem: Problem
) -> None:
    """The keys and values in the future of a query leave no trace in its output.

        o(k, v)_i = o(k', v')_i    for finite k', v' that differ only at j > i

    C3 requires equal bits, which need the same order of summation in both calls.
    """
    t, other = with_another_future(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(after[:, :, :t], before[:, :, :t], within=within[:, :, :t])
