"""Ways to make a problem of caches simpler that leave its texts unlike each other."""

from collections.abc import Iterator

import numpy as np

from spec.cache.notation import Problem
from spec.simplify import RECORDS, Simplification


def shorter(problem: Problem) -> Iterator[Problem]:
    """As many tokens less in every sequence: without a half of the text, ..., a single one.

    Tokens that are left out alone soon leave all sequences as long as the text is.
    """
    fewer = problem.N // 2
    while fewer:
        part = problem.part("N", np.arange(problem.N - fewer))
        yield part.but(lengths=np.maximum(problem.lengths - fewer, 0))
        fewer //= 2


def slower(problem: Problem) -> Iterator[Problem]:
    """Fewer tokens in each step: half as many, or one less."""
    for arrivals in (problem.arrivals // 2, np.maximum(problem.arrivals - 1, 0)):
        if (arrivals < problem.arrivals).any():
            yield problem.but(arrivals=arrivals)


WAYS: tuple[Simplification, ...] = (shorter, slower, *RECORDS)
