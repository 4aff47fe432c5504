"""Reading the weights off, and with them the mask, from anybody's output.

With the identity for values, o_ij = sum_k w_ik [k = j] = w_ij: products with 0 and 1, and
sums with zeros, which round nothing. Scores are small here, so a weight of 0 was dropped.
"""

from collections.abc import Iterator

import numpy as np

from spec.dropout.notation import Dropout, Problem
from spec.notation import Array

CELLS = 2**15  # weights that a statistic looks at, at least
FEWEST = 256  # weights of a crowd


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
    """The problem with one seed after another, for at least CELLS weights."""
    for call in range(calls(problem)):
        yield problem.but(seed=problem.seed + call)


def calls(problem: Problem) -> int:
    """How many calls that takes."""
    return -(-CELLS // of_crowd(problem))


def of_crowd(problem: Problem) -> int:
    """How many weights a crowd has. Raises ValueError: it is none, and tells nothing of chance."""
    weights = int(problem.allowed.sum())
    if weights < FEWEST or not 0 < problem.rate < 1:
        raise ValueError(f"{weights} weights at a rate of {problem.rate} tell nothing of chance")
    return weights


def masks(network: Dropout, problem: Problem) -> Array:
    """The masks of calls with one seed after another.   (calls, B, H, N, M)

    One mask for all seeds was drawn once, if at all (D15), and there is one then.
    """
    found = np.stack([kept(network, each) for each in repeated(problem)])
    return found[:1] if (found == found[:1]).all() else found
