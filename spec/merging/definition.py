"""The definition of merging: the states of two sets of keys give the state of their union.

    w_i = exp(lse_i - lse)    lse = log(exp lse_1 + exp lse_2)    o = w_1 o_1 + w_2 o_2

(Milakov and Gimelshein 2018, section 3; Ye et al. 2025, section 2.2). The larger lse is
subtracted from both before anything is exponentiated, so that nothing overflows. A state
whose lse is -inf has weight zero, whatever its output is. Two such states give (0, -inf),
the state of no keys.

The gradients are the closed form of reverse-mode differentiation of <do, o> + <dlse, lse>.
The weights are the softmax of the two log-sum-exps, and they are the derivatives of lse:

    do_i = w_i do        dlse_i = w_i (<do, o_i - o> + dlse)

So an empty state receives no gradient, and the other state receives do and dlse.
"""

import numpy as np

from spec.merging.notation import Gradients, Problem, State
from spec.notation import Array


def weights(problem: Problem) -> tuple[Array, Array, Array]:
    """w_1, w_2, zero for an empty state, and lse.   three of (B, H, N)"""
    larger = np.maximum(problem.lse_1, problem.lse_2)
    top = np.where(np.isneginf(larger), 0, larger)
    e_1, e_2 = np.exp(problem.lse_1 - top), np.exp(problem.lse_2 - top)
    total = e_1 + e_2
    some = np.where(total == 0, 1, total)
    lse = np.where(total == 0, -np.inf, top + np.log(some))
    return e_1 / some, e_2 / some, lse


def outputs(problem: Problem) -> tuple[Array, Array]:
    """o_1 and o_2, replaced by zeros where a state is empty.   two of (B, H, N, E)"""
    pairs = zip((problem.o_1, problem.o_2), problem.empty, strict=True)
    o_1, o_2 = (np.where(empty[..., None], 0, o) for o, empty in pairs)
    return o_1, o_2


def merged(problem: Problem) -> State:
    """The state of the keys of both states."""
    w_1, w_2, lse = weights(problem)
    o_1, o_2 = outputs(problem)
    return State(w_1[..., None] * o_1 + w_2[..., None] * o_2, lse)


def gradients(problem: Problem) -> Gradients:
    """The derivatives of <do, o> + <dlse, lse>."""
    w_1, w_2, _ = weights(problem)
    o_1, o_2 = outputs(problem)
    o, do = merged(problem).o, problem.do
    return Gradients(
        o_1=w_1[..., None] * do,
        lse_1=w_1 * ((do * (o_1 - o)).sum(axis=-1) + problem.dlse),
        o_2=w_2[..., None] * do,
        lse_2=w_2 * ((do * (o_2 - o)).sum(axis=-1) + problem.dlse),
    )
