"""Budgets: one causal pass over the text, row by row.

A cache computes row t from the keys up to t, in whatever chunk the token arrives and
wherever the keys lie. That is an ordinary attention problem, and its budget
(`spec.attention.rounding.of_output`) holds for any order of keys; what is hidden enters no budget.
So the budget of row t of one causal pass is that of the answer to token t:

    |o_t(cache) - o_t| <= B_t

Keys and values are kept as they came, which rounds nothing. Beyond the length of a
sequence nothing is claimed, and nothing is compared: `real` says where tokens are.
"""

from functools import lru_cache

import numpy as np

from spec.attention import rounding
from spec.attention.contents import UNBOUNDED
from spec.attention.notation import Problem as Attention
from spec.cache.notation import Problem
from spec.notation import Array, Posed


@lru_cache(maxsize=8)  # a problem is hashed by identity, and never changes
def one_pass(problem: Problem) -> Attention:
    """The text as one causal attention problem; it ends where a sequence does, as all come first.

    A later token changes no row before it, so that sequences may be of different lengths.
    """
    none = np.zeros((*problem.q.shape[:3], problem.E))
    window = UNBOUNDED if problem.window is None else (problem.window - 1, 0)
    shared = problem.only(Posed)
    return Attention(*problem.text, none, causal=True, window=window, **shared)


def reference(problem: Problem) -> Array:
    """The output of one pass of the definition, and zeros beyond the text.   (B, H, N, E)"""
    return np.where(problem.real, rounding.reference(one_pass(problem)).o, 0)


def of_reading(problem: Problem) -> Array:
    """The budget of the answers to the text; exactly zero beyond it.   (B, H, N, E)"""
    return np.where(problem.real, rounding.of_output(one_pass(problem)), 0)
