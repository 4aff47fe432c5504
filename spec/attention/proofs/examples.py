"""Problems in fractions, and laws that hold of each of them without any rounding.

Scores are integers, so in base 2 every weight is a fraction (`spec.proving.exact`).
"""

from typing import Any

import numpy as np

from spec.attention import moves
from spec.attention.notation import Problem
from spec.notation import Array
from spec.proving.exact import fractions
from spec.proving.theorem import Decorator, checked
from spec.stream import Stream

SIZES = "10 problems in fractions: up to 6 heads on 3, 6 queries, 7 keys, widths of 3"
SEEDS = range(10)


def integers(chance: Stream, *shape: int) -> Array:
    """Integers from -3 to 3."""
    return chance.integers(-3, 4, shape)


def mask(chance: Stream, *shape: int) -> Array | None:
    """None, a boolean mask or a bias of integers with -inf, in turn; idle queries occur."""
    allowed = chance.random(*shape) < 0.7
    bias = np.where(allowed, integers(chance, *shape), -np.inf)
    return chance.choice((None, allowed, bias))


def example(seed: int, causal: bool | None = None, ungrouped: bool = False) -> Problem:
    """A problem in fractions: mask, bias, causality, groups and scale as `seed` has it."""
    chance = Stream(seed)
    B, G, N, M, D, E = chance.integers(
        np.array([1, 1, 2, 2, 1, 1]), np.array([3, 4, 7, 8, 4, 4])
    ).tolist()
    H = G if ungrouped else G * chance.randrange(1, 3)
    problem = Problem(
        q=integers(chance, B, H, N, D),
        k=integers(chance, B, G, M, D),
        v=integers(chance, B, G, M, E),
        dout=integers(chance, B, H, N, E),
        mask=mask(chance, B, H, N, M),
        causal=chance.choice((False, True)) if causal is None else causal,
        scale=chance.choice((-1.0, 1.0, 2.0)),
        seed=seed,
    )
    thirds = problem.but(v=fractions(problem.v) / 3, dout=fractions(problem.dout) / 7)
    return exact(thirds)


def exact(problem: Problem) -> Problem:
    """The same problem in fractions, its scores read in base 2.

    q, k, the scale and a mask have to make integer scores. A mask may stay in floats,
    and the scale has to be given, since most square roots are not rational.
    """
    arrays = {name: getattr(problem, name) for name in ("q", "k", "v", "dout")}
    return problem.but(**{name: fractions(array) for name, array in arrays.items()})


def square(problem: Problem) -> Problem:
    """As many queries as keys, and no mask."""
    size = slice(min(problem.N, problem.M))
    return moves.of_keys(moves.of_queries(problem.but(mask=None), size), size)


def exactly(causal: bool | None = None, ungrouped: bool = False, **control: Any) -> Decorator:
    """A law of every example of a kind; `control` are the arguments that make it false."""
    return checked(lambda: (example(seed, causal, ungrouped) for seed in SEEDS), SIZES, **control)
