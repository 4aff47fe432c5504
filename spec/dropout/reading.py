"""Reading the weights off, and with them the mask, from anybody's output.

With the identity for values, o_ij = sum_k w_ik [k = j] = w_ij: products with 0 and 1, and
sums with zeros, which round nothing. Scores are small here, so a weight of 0 was dropped.
"""

from collections.abc import Iterator

import numpy as np

from spec.dropout.notation import Dropout, Problem
from spec.notation import Array

CELLS = 2**15  # weights that a statistic looks at, at least
CALLS = 128  # for which the smallest crowd takes so many; who has fewer weights is asked no more
FEWEST = 64  # weights of a problem that tell anything of chance


def readable(problem: Problem) -> Problem:
    """The same problem with the identity for values.   E = M"""
    v = np.broadcast_to(np.eye(problem.M), (problem.B, problem.H, problem.M, problem.M))
    return problem.but(v=v, dout=np.zeros((problem.B, problem.H, problem.N, problem.M)))


def used_weights(network: Dropout, problem: Problem) -> Array:
    """The weights that the forward pass uses.   (B, H, N, M)"""
    return network.forward(readable(problem))


def kept(network: Dropout, problem: Problem) -> Array:
    """True where a weight was kept: not 0, and so also where it is no number.   (B, H, N, M)"""
    return used_weights(network, problem) != 0


def repeated(problem: Problem) -> Iterator[Problem]:
    """The problem with one seed after another, for at least CELLS weights of a crowd."""
    for call in range(calls(problem)):
        yield problem.but(seed=problem.seed + call)


def calls(problem: Problem) -> int:
    """How many calls that takes. Raises ValueError: too few weights."""
    weights = int(problem.allowed.sum())
    if weights < FEWEST:
        raise ValueError(f"{weights} weights tell nothing of chance")
    return min(CALLS, -(-CELLS // weights))


def masks(network: Dropout, problem: Problem) -> Array:
    """The masks of calls with one seed after another.   (calls, B, H, N, M)"""
    return np.stack([kept(network, each) for each in repeated(problem)])
