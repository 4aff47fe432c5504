"""Keys and values that are made of latents, in the two ways in which they can be asked.

A latent has 2 D columns, one of each of two keys, and a query head makes of it

    W_h = [1, s_h 1]    its key, a sum of two terms, which every format has exactly
    U_h = [U_h, 0]      its value, of the first D columns alone

with s_h one or minus one, and U_h a signed permutation: another one for every head.
"""

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.notation import Array


def turns(problem: Problem) -> tuple[Array, Array]:
    """s_h and U_h.   (H, 1, 1) and (H, D, D)"""
    s = np.resize([1.0, -1.0], problem.H)
    U = [s[h] * np.roll(np.eye(problem.D), h % 3, axis=1) for h in range(problem.H)]
    return s[:, None, None], np.stack(U)


def absorbed(problem: Problem) -> Problem:
    """Latents for keys, and the first half of them for values: W_h is in the queries.

    problem: with values as wide as keys, which are not read; q (B, H, N, 2 D), k (B, G, M, 2 D)
    and v (B, G, M, D) come of it.
    """
    s, U = turns(problem)
    latents = np.concatenate([problem.k, np.roll(problem.k, 1, axis=-2)], axis=-1)
    return problem.but(
        q=np.concatenate([problem.q, s * problem.q], axis=-1),
        k=latents,
        v=problem.k,
        dout=problem.dout @ U.swapaxes(-1, -2),
        scale=float(definition.scale(problem)),
    )


def expanded(problem: Problem) -> Problem:
    """A key and a value of its own for each query head."""
    s, U = turns(problem)
    whole = definition.shared(problem.k, problem.H)
    keys = whole + s * np.roll(whole, 1, axis=-2)
    return problem.but(k=keys, v=whole @ U, scale=float(definition.scale(problem)))
