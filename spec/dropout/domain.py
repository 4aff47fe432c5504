"""Where the clauses quantify: attention problems with a rate, a mode and a seed.

Scores stay within 6 of 0, so that no weight is too small to differ from one that was
dropped: a >= exp(-12) / 17 > 2^-22, and float16 goes down to 2^-24. E = M throughout, as
values are replaced by the identity to read weights off: then a problem and the one that
reads its mask are of one shape, and no source of randomness can tell them apart.

A *crowd* has enough weights for statistics: two batch elements and two heads at least, some
hundred weights, and no key hidden.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spec.attention.conventions import products_as
from spec.attention.options import CAUSAL, MASK, Capability, together
from spec.choices import Choices
from spec.domain import Scope
from spec.dropout.notation import Problem
from spec.entries import drawn
from spec.formats import rounded
from spec.notation import Array
from spec.rows import Numbers, Shape, arrays_of, lattice, normal, ties
from spec.sizes import SMALL
from spec.stream import Stream

RATES = (0.5, 0.25, 0.1, 0.75, 0.9, 1 / 3, 0.01)
FAIR_RATES = (0.25, 0.1, 0.75, 0.5, 1 / 3)  # of crowds: neither side is rare
LENGTHS = (*SMALL, 7, 8, 9, 16, 17)
CROWD_LENGTHS = (8, 9, 12, 16, 17)
WIDTHS = (1, 2, 3, 4, 8)
SEED = 31  # bits, and as many above it as a clause counts on
FEW = 120  # entries, of problems that are drawn one by one
SMALLER = 8.0  # queries are divided by this, and by twice as much where |s| would pass
MOST = 6.0


def near(chance: Stream, shape: Shape) -> Array:
    """Standard normal entries, none beyond 4."""
    return np.clip(normal(chance, shape), -4, 4)


FAMILIES: Mapping[str, Numbers] = {"lattice": lattice, "normal": near, "ties": ties}


@dataclass(frozen=True)
class Problems:
    """A domain of problems with dropout.

    crowd: enough weights for statistics. rates: what p is drawn from.
    """

    crowd: bool = False
    rates: tuple[float, ...] = RATES
    about: ClassVar[str] = "dropout"
    needs: ClassVar[frozenset[str]] = frozenset()

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        B, H, N, M, D = _sizes(choices, self, scope)
        shapes = ((B, H, N, D), (B, H, M, D), (B, H, M, M), (B, H, N, M))
        q, *others = drawn(choices, tuple(FAMILIES), shapes, _seeded, FEW, SEED)
        q, k, v, dout = (rounded(x, scope.dtype) for x in (q / SMALLER, *others))
        seed = choices.seed(SEED)
        mask, causal = (None, False) if self.crowd else _hidden(choices, scope.answers, seed, N, M)
        p = choices.pick(self.rates)
        scale = choices.pick((None, None, 0.5)) if Capability.SCALE in scope.answers else None
        problem = Problem(q, k, v, dout, p, mask=mask, causal=causal, scale=scale, seed=seed)
        products = products_as(scope.conventions)
        return tamed(problem.but(dtype=scope.dtype, rounding=scope.rounding, products=products))


CROWDS = Problems(crowd=True, rates=FAIR_RATES)


def tamed(problem: Problem) -> Problem:
    """The same problem, with queries divided by two until no score is beyond MOST."""
    largest = np.abs(problem.q @ problem.k.swapaxes(-1, -2)).max() * problem.attention.sigma
    halvings = float(np.ceil(np.log2(max(largest, MOST) / MOST)))
    return problem.but(q=rounded(problem.q / 2.0**halvings, problem.dtype))


def _sizes(choices: Choices, domain: Problems, scope: Scope) -> tuple[int, int, int, int, int]:
    lengths = CROWD_LENGTHS if domain.crowd else LENGTHS
    heads = (2, 4) if domain.crowd else (1, 2, 3)
    B, H = choices.pick(heads), choices.pick(heads)
    N, M = choices.pick(lengths), choices.pick(lengths)
    D = choices.pick(WIDTHS) if Capability.WIDTHS in scope.answers else M
    return B, H, N, M, D


def _seeded(family: str, seed: int, shapes: tuple[Shape, ...]) -> list[Array]:
    # A stream of its own: a mask may come from the same seed, and must not know the entries.
    return arrays_of(FAMILIES[family], Stream(seed, 3), shapes)


def _hidden(
    choices: Choices, answers: frozenset[str], seed: int, N: int, M: int
) -> tuple[Array | None, bool]:
    """A mask, or None, and whether the problem is causal; every query sees the first key."""
    masked = Capability.MASK in answers and choices.pick((False, False, True))
    causal = Capability.CAUSAL in answers and choices.pick((False, False, True))
    if causal and together(MASK, CAUSAL) not in answers:
        masked = False
    allowed = Stream(seed, 2).random(N, M) < 0.7
    return (allowed | (np.arange(M) == 0) if masked else None), causal
