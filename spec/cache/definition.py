"""What decoding with a cache is: each token attends to all keys so far, its own included.

    keys so far <- keys so far, k_t        values likewise
    o_t = sum_(j <= t) a_tj v_j            with a_t the softmax of scale <q_t, k_j>, j <= t

and j > t - W where there is a window of W keys, which the definition keeps no less than others.

A state is what was read, so that rollback is a slice of it, and a fork is the state itself.
Each sequence is on its own. Precision follows the arrays, as in `spec.attention.definition`.
"""

from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem as Attention
from spec.attention.rounding.arithmetic import widens
from spec.cache.notation import Chunk, Problem
from spec.cache.record import Cache, State
from spec.notation import Array, Call


def begin(problem: Problem) -> State:
    """Nothing was read: a pair of keys and values without tokens for each sequence."""
    nothing = (problem.k[0, :, :0], problem.v[0, :, :0])
    return State(problem, (nothing,) * problem.B)


def extend(state: State, chunk: Chunk) -> tuple[Array, State]:
    """The answer to each query of each sequence in turn, and zeros at padding."""
    o = np.zeros((*chunk.q.shape[:3], chunk.v.shape[-1]), np.longdouble)
    asked, seen = o.shape[2], slice(-(state.problem.window or 0), None)
    kept: list[Any] = []
    for b, (k, v) in enumerate(state.kept):
        for i in range(chunk.counts[b]):
            k = np.concatenate([k, chunk.k[b, :, i : i + 1]], axis=1)
            v = np.concatenate([v, chunk.v[b, :, i : i + 1]], axis=1)
            if i < asked:
                o[b, :, i] = answer(chunk.q[b, :, i], k[:, seen], v[:, seen], state.problem.dtype)
        kept.append((k, v))
    return o, State(state.problem, tuple(kept))


def watched(state: State, chunk: Chunk) -> tuple[Call, State]:
    """The same as its caller sees it, whose arrays it copies."""
    o, after = extend(state, chunk)
    return Call(o, state.problem.dtype), after


def answer(q: Array, k: Array, v: Array, dtype: str) -> Array:
    """The attention of one token, q (H, D), to keys so far, k (G, t, D).   (H, E)"""
    row = Attention(
        q[None, :, None], k[None], v[None], np.zeros((1, len(q), 1, v.shape[-1])), dtype=dtype
    )
    return definition.attention(row.wide() if widens(row) else row)[0, :, 0]


def rollback(state: State, lengths: Array) -> State:
    """The state after the first tokens alone."""
    pairs = zip(state.kept, lengths, strict=True)
    return State(state.problem, tuple((k[:, :n], v[:, :n]) for (k, v), n in pairs))


def fork(state: State) -> State:
    """The state itself, which nothing changes."""
    return state


DEFINITION = Cache(
    name="definition",
    begin=begin,
    extend=extend,
    watched=watched,
    rollback=rollback,
    fork=fork,
    fewer=extend,
    persistent=True,
    dtypes=("float64", "float32", "float16", "bfloat16"),
)
