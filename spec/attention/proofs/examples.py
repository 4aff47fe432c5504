"""Problems in fractions, and laws that hold of each of them without any rounding.

Scores are integers, so in base 2 every weight is a fraction (`spec.proving.exact`). A law is a
function of a problem that returns what it says is zero; running it is no proof, but
it is the definition's own code at sizes out of reach of formulas, and nothing is
forgiven: one wrong term in one place of one example is not zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from spec.attention.notation import Problem
from spec.attention.proofs.inputs import exact
from spec.clause import Evidence
from spec.notation import Array
from spec.proving.exact import fractions
from spec.proving.theorem import Decorator

SIZES = "10 problems in fractions: up to 6 heads on 3, 6 queries, 7 keys, widths of 3"
SEEDS = range(10)

Law = Callable[..., Array]


def integers(chance: np.random.Generator, *shape: int) -> Array:
    """Integers from -3 to 3."""
    return chance.integers(-3, 4, shape)


def mask(chance: np.random.Generator, *shape: int) -> Array | None:
    """None, a boolean mask or a bias of integers with -inf, in turn; idle queries occur."""
    allowed = chance.random(shape) < 0.7
    bias = np.where(allowed, integers(chance, *shape), -np.inf)
    return [None, allowed, bias][chance.integers(3)]


def example(seed: int, causal: bool | None = None, ungrouped: bool = False) -> Problem:
    """A problem in fractions: mask, bias, causality, groups and scale as `seed` has it."""
    chance = np.random.default_rng(seed)
    B, G, N, M, D, E = chance.integers((1, 1, 2, 2, 1, 1), (3, 4, 7, 8, 4, 4)).tolist()
    H = G if ungrouped else G * int(chance.integers(1, 3))
    problem = Problem(
        q=integers(chance, B, H, N, D),
        k=integers(chance, B, G, M, D),
        v=integers(chance, B, G, M, E),
        dout=integers(chance, B, H, N, E),
        mask=mask(chance, B, H, N, M),
        causal=bool(chance.integers(2)) if causal is None else causal,
        scale=float(chance.choice([-1, 1, 2])),
        seed=seed,
    )
    thirds = problem.but(v=fractions(problem.v) / 3, dout=fractions(problem.dout) / 7)
    return exact(thirds)


def over(law: Law, options: dict[str, Any], seeds: Iterable[int] = SEEDS, **fault: Any) -> Array:
    """What the law says is zero, for every example."""
    return np.concatenate([np.ravel(law(example(seed, **options), **fault)) for seed in seeds])


def exactly(causal: bool | None = None, ungrouped: bool = False, **control: Any) -> Decorator:
    """A law of every example of a kind; `control` are the arguments that make it false."""
    options = {"causal": causal, "ungrouped": ungrouped}

    def evidence(law: Law) -> Evidence:
        run = partial(over, law, options)
        return Evidence("checked exactly", run, partial(run, **control), SIZES)

    return evidence
