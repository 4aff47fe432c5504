"""Section C, continued. Sequences and heads are decoded together, and each is alone.

A batch is an economy, and a cache is where its sequences lie side by side: in one array,
with lengths of their own, in chunks that are padded to the longest share, or in pages of one
pool. None of that is part of what is computed:

    o(batch)_b = o(sequence b by itself)

Nor do heads meet, but for the query heads that read one key head, which is kept once.
"""

import numpy as np

from spec.attention import definition
from spec.cache import rounding
from spec.cache.domain import Texts
from spec.cache.notation import Problem, Text
from spec.cache.reading import alone, reading
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal, same_bits


@clause("C31", over=Texts(sequences=2), catches={"reads_the_first_sequence_for_all"})
def sequences_do_not_meet(cache: Cache, problem: Problem) -> None:
    """What the other sequences of a batch hold does not change a bit of an answer.

        o(x)_b = o(x')_b    where x and x' differ in other sequences only

    The lengths stay as they are; what happens when they do not is the next clause's affair.
    """
    b = problem.chance().below(problem.B)
    others = (np.arange(problem.B) != b)[:, None, None, None]
    turned = Text(*(np.where(others, np.flip(x, axis=2), x) for x in problem.text))
    changed = problem.but(q=turned.q, k=-turned.k, v=turned.v)
    changed = changed.but(k=np.where(others, changed.k, problem.k))

    o, p = reading(cache, problem), reading(cache, changed)

    same_bits(p[b], o[b])


@clause(
    "C32",
    over=Texts(sequences=2, ragged=True),
    catches={
        "bounds_all_by_the_first_sequence",
        "bounds_all_by_the_longest_sequence",
        "takes_padding_for_text",
        "reads_the_first_sequence_for_all",
    },
)
def each_sequence_has_a_length_of_its_own(cache: Cache, problem: Problem) -> None:
    """A sequence is answered in a batch of longer and shorter ones as it is alone.

        o(batch)_b = o(sequence b by itself)

    Alone there is no padding, and only one length.
    """
    o = reading(cache, problem)

    budget = rounding.of_reading(problem)
    for b in range(problem.B):
        p = reading(cache, alone(problem, b))
        equal(o[b : b + 1], p, within=2 * budget[b : b + 1])


@clause("C33", over=Texts(sequences=2, ragged=True), catches={"takes_padding_for_text"}, effort=2)
def padding_is_not_read(cache: Cache, problem: Problem) -> None:
    """What pads a chunk does not change a bit of the answers to its tokens.

        o(x; padded with y) = o(x; padded with y')

    Padding may be written where the next token will lie, as long as nobody looks there before.
    """
    other = {"q_other": -problem.q_other, "k_other": -problem.k_other}
    turned = problem.but(**other, v_other=2 - problem.v_other)

    o, p = reading(cache, problem), reading(cache, turned)

    same_bits(p, o)


@clause("C34", over=Texts(heads=2), catches={"reads_the_first_head_for_all"}, effort=2)
def heads_do_not_meet(cache: Cache, problem: Problem) -> None:
    """What one key head holds does not change a bit of the answers of heads that do not read it.

        o(x)_h = o(x')_h    where k and v differ in other heads than h reads

    This is H3 for a cache, in whose memory heads lie next to each other.
    """
    g = problem.chance().below(problem.G)
    own = (np.arange(problem.G) == g)[:, None, None]
    k, v = (np.where(own, -np.flip(x, axis=2), x) for x in (problem.k, problem.v))
    apart = np.arange(problem.H) // (problem.H // problem.G) != g

    o, p = reading(cache, problem), reading(cache, problem.but(k=k, v=v))

    same_bits(p[:, apart], o[:, apart])


@clause(
    "C35",
    over=Texts(grouped=True),
    needs={Capability.GROUPS},
    catches={"hands_key_heads_round_in_turn"},
    effort=2,
)
def shared_heads_are_kept_once(cache: Cache, problem: Problem) -> None:
    """A cache of G key heads answers as one in which each is kept for every head that reads it.

        o(q; k, v)_h = o(q; each head of k and v H / G times in a row)_h

    To keep each key head once is what grouped heads are for (H4).
    """
    spread = {
        name: definition.shared(getattr(problem, name), problem.H)
        for name in ("k", "v", "k_other", "v_other")
    }

    o, p = reading(cache, problem), reading(cache, problem.but(**spread))

    equal(o, p, within=2 * rounding.of_reading(problem))
