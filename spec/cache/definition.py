"""The definition of decoding with a cache: each token attends to its own key and all earlier ones.

    keys so far <- keys so far, k_t        values likewise
    o_t = sum_(j <= t) a_tj v_j            with a_t the softmax of scale <q_t, k_j>, j <= t

With a window of W keys, j > t - W holds as well; the definition still keeps all keys.

A state contains all keys and values so far. So a rollback is a slice of it, and a fork is the
state itself. Each sequence is processed separately. The precision is that of the arrays, as in
`spec.attention.definition`.
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
    """The empty state: for each sequence, keys and values of length zero."""
    nothing = (problem.k[0, :, :0], problem.v[0, :, :0])
    return State(problem, (nothing,) * problem.B)


def extend(state: State, chunk: Chunk) -> tuple[Array, State]:
    """The output of each query of each sequence, with zeros at padding, and the next state."""
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
    """The output of `extend` as a `Call`, and the next state; the caller's arrays are copied."""
    o, after = extend(state, chunk)
    return Call(o, state.problem.dtype), after


def answer(q: Array, k: Array, v: Array, dtype: str) -> Array:
    """The attention output of one token, q (H, D), over the keys so far, k (G, t, D).   (H, E)"""
    row = Attention(
        q[None, :, None], k[None], v[None], np.zeros((1, len(q), 1, v.shape[-1])), dtype=dtype
    )
    return definition.attention(row.wide() if widens(row) else row)[0, :, 0]


def rollback(state: State, lengths: Array) -> State:
    """The state after only the first `lengths` tokens of each sequence."""
    pairs = zip(state.kept, lengths, strict=True)
    return State(state.problem, tuple((k[:, :n], v[:, :n]) for (k, v), n in pairs))


def fork(state: State) -> State:
    """The state itself, because nothing ever changes a state."""
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
