"""Section C, continued. Sequences and heads that are decoded together are independent.

A batch only saves time and memory. A cache stores the sequences of a batch together: in one
array, with different lengths, in chunks that are padded to the longest share, or in pages of one
pool. None of this changes what is computed:

    o(batch)_b = o(sequence b by itself)

Heads are independent as well. Only the query heads of one group share a key head, which is
stored once.
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
from spec.notation import Array


def with_other_sequences(problem: Problem) -> tuple[int, Problem]:
    """A sequence of the batch, and the problem with all others changed."""
    b = problem.chance().below(problem.B)
    others = (np.arange(problem.B) != b)[:, None, None, None]
    turned = Text(*(np.where(others, np.flip(x, axis=2), x) for x in problem.text))
    changed = problem.but(q=turned.q, k=-turned.k, v=turned.v)
    return b, changed.but(k=np.where(others, changed.k, problem.k))


def with_other_padding(problem: Problem) -> Problem:
    """The problem with other content in the padding of its chunks."""
    other = {"q_other": -problem.q_other, "k_other": -problem.k_other}
    return problem.but(**other, v_other=2 - problem.v_other)


def with_another_head(problem: Problem) -> tuple[Array, Problem]:
    """Which query heads do not read some key head, and the problem with that head changed."""
    g = problem.chance().below(problem.G)
    own = (np.arange(problem.G) == g)[:, None, None]
    k, v = (np.where(own, -np.flip(x, axis=2), x) for x in (problem.k, problem.v))
    return np.arange(problem.H) // (problem.H // problem.G) != g, problem.but(k=k, v=v)


@clause(
    "C31", over=Texts(sequences=2), catches={"reads_the_first_sequence_for_all"}, promise="batch"
)
def sequences_in_a_cache_are_independent(cache: Cache, problem: Problem) -> None:
    """Changing other sequences of a batch changes no bit of the outputs of a sequence.

        o(x)_b = o(x')_b    where the batches x and x' differ only in sequences other than b

    Here the lengths stay the same. C32 is about different lengths.
    """
    b, changed = with_other_sequences(problem)

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
def ragged_batch_equals_separate_sequences(cache: Cache, problem: Problem) -> None:
    """In a batch of sequences of different lengths, each has the same outputs as by itself.

        o(batch)_b = o(sequence b by itself)

    A sequence by itself has no padding, and only one length.
    """
    o = reading(cache, problem)

    budget = rounding.of_reading(problem)
    for b in range(problem.B):
        p = reading(cache, alone(problem, b))
        equal(o[b : b + 1], p, within=2 * budget[b : b + 1])


@clause(
    "C33",
    over=Texts(sequences=2, ragged=True),
    catches={"takes_padding_for_text"},
    effort=2,
    promise="length",
)
def chunk_padding_does_not_change_outputs(cache: Cache, problem: Problem) -> None:
    """The padding of a chunk changes no bit of the outputs of its tokens.

        o(x; padded with y) = o(x; padded with y')

    Padding may be written where the next token will lie, as long as no query attends to it before
    that token is written.
    """
    o, p = reading(cache, problem), reading(cache, with_other_padding(problem))

    same_bits(p, o)


@clause(
    "C34", over=Texts(heads=2), catches={"reads_the_first_head_for_all"}, effort=2, promise="order"
)
def heads_in_a_cache_are_independent(cache: Cache, problem: Problem) -> None:
    """Changing one key head changes no bit of the outputs of query heads that do not read it.

        o(x)_h = o(x')_h    where k and v differ only in key heads that h does not read

    This is H1 for a cache, where heads are adjacent in memory.
    """
    apart, other = with_another_head(problem)

    o, p = reading(cache, problem), reading(cache, other)

    same_bits(p[:, apart], o[:, apart])


@clause(
    "C35",
    over=Texts(grouped=True),
    needs={Capability.GROUPS},
    catches={"hands_key_heads_round_in_turn"},
    effort=2,
)
def grouped_cache_equals_repeated_key_heads(cache: Cache, problem: Problem) -> None:
    """A cache with G key heads gives the same outputs as one in which each key head is repeated
    for every query head that reads it.

        o(q; k, v)_h = o(q; each head of k and v H / G times in a row)_h

    This is H4 for a cache. The purpose of grouped heads is to store each key head only once.
    """
    spread = {
        name: definition.shared(getattr(problem, name), problem.H)
        for name in ("k", "v", "k_other", "v_other")
    }

    o, p = reading(cache, problem), reading(cache, problem.but(**spread))

    equal(o, p, within=2 * rounding.of_reading(problem))
