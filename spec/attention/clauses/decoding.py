"""Section C, continued. A text may be read at a stroke, in chunks, or token by token.

What came first does not change when more follows (C1); so each output can be
computed when its token arrives, from the keys so far, and never again. Decoding
with a cache is the same as decoding without one.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.causality import FULL, SQUARE
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


def prefix(problem: Problem, length: int) -> Problem:
    """The problem as it stood after `length` tokens."""
    return moves.of_keys(moves.of_queries(problem, slice(0, length)), slice(0, length))


@clause(
    "C1",
    over=SQUARE,
    catches={"ignores_causality", "sees_one_key_ahead", "forgets_causality_without_a_mask"},
    proof=exactly.causal_prefixes_are_consistent,
)
def prefixes_are_consistent(attention: Implementation, problem: Problem) -> None:
    """Attending over a prefix gives a prefix of the output.

        o(x[:t])_i = o(x)_i    for i < t

    This is what makes decoding with a cache the same as decoding without one.
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
def the_last_token_sees_everything(attention: Implementation, problem: Problem) -> None:
    """The last query of a text attends to all of it.

        o(causal)_(N-1) = o_(N-1)    for N = M

    C1 to C4 would accept a window that has lost sight of the distant past.
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
def tokens_may_be_read_one_by_one(attention: Implementation, problem: Problem) -> None:
    """Decoding one token with all keys so far, and no mask, is a row of the whole.

        o(q_t; k[:t+1], v[:t+1]) = o(q, k, v; causal)_t

    Row t is the last of its prefix (C1), and the last row sees everything (C6).
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
def chunks_may_be_read_one_by_one(attention: Implementation, problem: Problem) -> None:
    """A chunk of queries against all keys so far, the past in full, is a part of the whole.

        o(q[t:u]; k[:u], v[:u]; mask j <= t + i) = o(q, k, v; causal)[t:u]

    Row i of the chunk is query t + i. A triangle in the corner of the chunk hides the past.
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
