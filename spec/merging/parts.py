"""Parts of attention, merges one after the other, and how far these may lie from the whole.

A state is followed with a budget for each of its numbers. A merge adds what it rounds itself,
of the numbers that it is really given, to what Lemma 5 of the budgets makes of theirs.
"""

from typing import NamedTuple

import numpy as np

from spec.attention import rounding as budgets
from spec.attention.notation import Problem as Attention
from spec.formats import rounded
from spec.merging import definition
from spec.merging.notation import Merging, Problem, State, single
from spec.merging.rounding import moved, of_state
from spec.stream import Stream

MOST_KEYS, MOST_PARTS, WIDTH, SEEN = 9, 5, 3, 0.75


class Near(NamedTuple):
    """A state, and within what of the truth its numbers are."""

    state: State
    within: State


def exact(state: State) -> Near:
    """A state that is what it should be."""
    return Near(state, State(*map(np.zeros_like, state)))


def merged(merging: Merging, like: Problem, one: Near, two: Near) -> Near:
    """The merge of two states by a subject; like: a problem of their shape and format."""
    put = like.of(one.state, two.state)
    of_inputs, own = moved(put, one.within, two.within), of_state(put)
    return Near(merging.forward(put), State(of_inputs.o + own.o, of_inputs.lse + own.lse))


def whole(problem: Problem, sinks: bool = False) -> Attention:
    """An attention problem whose outputs have the shape of a problem's: some keys, some hidden.

    Scores are of the size of one, ten or a hundred, so that parts are far apart now and then.
    """
    chance, dtype = problem.chance(), problem.dtype
    B, H, N, M = problem.B, problem.H, problem.N, chance.randrange(1, MOST_KEYS + 1)
    q = chance.normal(B, H, N, WIDTH) * 10.0 ** chance.below(3)
    k, v = (chance.normal(B, H, M, width) for width in (WIDTH, problem.E))
    q, k, v = (rounded(x, dtype) for x in (q, k, v))
    mask = chance.random(B, H, N, M) < SEEN
    own = rounded(chance.normal(H) * 4, problem.lse_dtype) if sinks else None
    asked = Attention(q, k, v, np.zeros((B, H, N, problem.E)), mask=mask, sinks=own, dtype=dtype)
    return asked.but(rounding=problem.rounding)


def cut(attention: Attention, chance: Stream) -> list[Attention]:
    """The problem of each part of the keys: any partition, parts without a key among them.

    A sink belongs to the first part alone.
    """
    count = chance.randrange(2, MOST_PARTS + 1)
    parts = chance.integers(0, count, attention.M)
    assert attention.mask is not None
    masks = [attention.mask & (parts == part) for part in range(count)]
    return [
        attention.but(mask=mask, sinks=None if part else attention.sinks)
        for part, mask in enumerate(masks)
    ]


def answered(attention: Attention) -> Near:
    """The result of a right implementation for a part: that of the definition, rounded."""
    right, stored = budgets.reference(attention), single(attention.dtype)
    o, lse = rounded(right.o, attention.dtype), rounded(right.lse, stored)
    within = State(budgets.of_output(attention), budgets.of_lse(attention, stored))
    return Near(State(o, lse), within)


def two_keys(problem: Problem) -> Attention:
    """The two states of each row as two keys, with lse for a score and o for a value.

    One query of one head for each row: (B H N, 1, 1 or 2, ...).
    """
    rows, E = problem.B * problem.H * problem.N, problem.E
    nothing = np.zeros((rows, 1, 1, 1))
    s = np.stack([problem.lse_1, problem.lse_2], axis=-1).reshape(rows, 1, 1, 2)
    v = np.stack(definition.outputs(problem), axis=-2).reshape(rows, 1, 2, E)
    keys = np.zeros((rows, 1, 2, 1))
    return Attention(nothing, keys, v, problem.do.reshape(rows, 1, 1, E), mask=s).in_reference()
