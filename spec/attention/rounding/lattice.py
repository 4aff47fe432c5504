"""Numbers of few bits, of which every format that is wide enough stores sums and products exactly.

If all terms of a sum are multiples of a power of two, and their sizes add up to at most 2^p of it,
each partial sum is a number of a format with p bits, in any order. So the scores of such queries
and keys are what they should be even in an eager program, which stores them. It is granted one
rounding of a query or a key times a scale: a kernel that works in powers of two stores
k scale log2(e).
"""

import numpy as np

from spec.attention.notation import Problem
from spec.formats import Format
from spec.notation import Array


def unit(x: Array) -> float:
    """The largest power of two that all entries are multiples of; infinite if all are zero."""
    fractions, exponents = np.frexp(x[x != 0])
    whole = (np.abs(fractions) * 2.0**53).astype(np.int64)
    last = exponents - 53 + np.log2(whole & -whole)  # the exponent of the last bit that is set
    return float(np.exp2(last.min(initial=np.inf)))


def live(problem: Problem) -> tuple[Array, Array]:
    """Queries that see a key, and keys that a query sees.   (B, H, N) and (B, G, M)"""
    B, G, M = problem.B, problem.G, problem.M
    seen = problem.allowed.reshape(B, G, problem.H // max(G, 1), problem.N, M)
    return np.asarray(problem.allowed.any(axis=-1)), np.asarray(seen.any(axis=(2, 3)))


def halved(sigma: float) -> bool:
    """Whether the square root of a scale is a power of two."""
    return float(np.frexp(np.sqrt(sigma))[0]) == 0.5


def exact_scores(problem: Problem, mass: Array, stored: Format) -> bool:
    """Whether scores, and their distances to the largest, are exact in a format.

    No partial sum of q_ic k_jc has more bits than the format, nor has twice the largest. Nothing is
    added to them, and the scale is a power of four, whose square root is exact too.

    mass: |scale| sum_c |q_ic| |k_jc|.   (B, H, N, M)
    """
    sigma = abs(problem.sigma)
    if problem.softcap is not None or not halved(sigma) or problem.bias.any():
        return False
    queries, keys = live(problem)
    most = sigma * unit(problem.q[queries]) * unit(problem.k[keys]) * 2.0**stored.p
    return bool(2 * (mass * problem.allowed).max(initial=0.0) <= most)
