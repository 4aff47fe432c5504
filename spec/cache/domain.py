"""Where the clauses about caches quantify: texts, and how they arrive.

Sizes, entries and their families are those of attention (`spec.sizes`, `spec.entries`), with
as many keys as queries. Lengths lie at the edges of tiles, which are the powers of two at
which caches grow. Both texts are cut from one, so that no query of the one has too large a
product with a key of the other.

A problem shrinks to one token that arrives at once, and to an other text of one token.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from spec import entries
from spec.attention.conventions import products_as
from spec.cache.notation import Problem
from spec.cache.record import Capability
from spec.choices import Choices
from spec.domain import Scope
from spec.notation import Array
from spec.sizes import Limits, Sizes, sizes
from spec.stream import Stream
from spec.subject import holding

OTHERS = (1, 2, 3, 4, 5, 8, 17, 33)  # lengths of the other text
WINDOWS = (1, 2, 3, 4, 5, 8, 16)  # keys that a token sees
PIECES = ("anyhow",)  # for a clause that needs several tokens in a step that has a past
ARRIVALS = ("at once", "one by one", "prompt first", "prompt first", "anyhow", "anyhow", "anyhow")


@dataclass(frozen=True, kw_only=True)
class Texts:
    """A domain of texts to be read.

    families: of entries. least, sequences, heads: the fewest tokens of a sequence, the fewest
    sequences, the fewest query heads. grouped: fewer key heads than query heads. ragged:
    sequences of different lengths, or that get different numbers of tokens. arrivals: the ways to
    arrive, to draw from. windowed: each token sees so many keys, and not all so far.
    """

    families: tuple[str, ...] = entries.ALL
    least: int = 1
    sequences: int = 1
    heads: int = 1
    grouped: bool | None = None
    ragged: bool = False
    arrivals: tuple[str, ...] = ARRIVALS
    windowed: bool = False
    about: ClassVar[str] = "cache"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain requires, and a clause over it needs as well."""
        asked = {
            Capability.GROUPS: self.grouped,
            Capability.RAGGED: self.ragged,
            Capability.WINDOW: self.windowed,
        }
        return holding(asked)

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        answers = scope.answers
        least = (self.sequences, self.heads, self.least, self.least)
        grouped = self.grouped if Capability.GROUPS in answers else False
        widths = Capability.WIDTHS in answers
        size = sizes(choices, Limits(scope.reach, least, True, False, "", grouped, widths, False))
        M = choices.pick(OTHERS)
        *both, _ = size._replace(N=size.N + M, M=size.M + M).shapes
        seeded = partial(entries.entries, dtype=scope.dtype)
        q, k, v, _ = entries.drawn(choices, self.families, (*both, (0,)), seeded)
        seed = choices.places(choices.seed())
        ragged = Capability.RAGGED in answers and choices.pick((False, False, True))
        ragged = ragged or self.ragged
        lengths = _lengths(self, seed, size) if ragged else np.full(size.B, size.N)
        arrivals = _arrivals(choices.pick(self.arrivals), seed, lengths, ragged)
        parts = [x[:, :, at] for at in (slice(size.N), slice(size.N, None)) for x in (q, k, v)]
        drawn: dict[str, Any] = dict(zip(Problem.axes, (*parts, arrivals, lengths), strict=True))
        drawn["window"] = _window(choices, arrivals, size.N) if self.windowed else None
        drawn |= {"rounding": scope.rounding, "products": products_as(scope.conventions)}
        return Problem(**drawn, dtype=scope.dtype, seed=seed)


def _lengths(domain: Texts, seed: int, size: Sizes) -> Array:
    """A length for each sequence; the first has all tokens, the others at least the least."""
    lengths = Stream(seed, 2).integers(domain.least, size.N + 1, size.B)
    lengths[0] = size.N
    return lengths


def _window(choices: Choices, arrivals: Array, N: int) -> int:
    """A few keys, or about as many as come in a step: longer chunks are refused by many rings."""
    few, step = choices.pick(WINDOWS), min(int(arrivals.max(initial=1)), N)
    return choices.pick((few, step, step, step + 1))


def _arrivals(kind: str, seed: int, lengths: Array, ragged: bool) -> Array:
    """How many tokens arrive in each step.   (T, B)"""
    chance, B = Stream(seed, 1), len(lengths)
    most = int(lengths.max(initial=0))
    match kind:
        case "at once":
            return np.zeros((0, B), int)
        case "one by one":
            return np.ones((most, B), int)
        case "prompt first":
            prompt = chance.integers(1, np.maximum(lengths, 1) + 1, B)
            after = np.ones((most, B), int)
            return np.vstack([(prompt if ragged else np.full(B, prompt[0]))[None], after])
    steps = chance.randrange(1, 7)
    share = max(1, 2 * most // steps)
    counts = chance.integers(0 if ragged else 1, share + 1, (steps, B))
    return counts if ragged else np.repeat(counts[:, :1], B, axis=1)
