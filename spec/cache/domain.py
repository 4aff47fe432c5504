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
ROUND = "round a ring"  # for one whose texts all have a window
ARRIVALS = ("at once", "one by one", "prompt first", "prompt first", "anyhow", "anyhow", "anyhow")


@dataclass(frozen=True, kw_only=True)
class Texts:
    """A domain of texts to be read.

    families: of entries. least, sequences, heads: the fewest tokens of a sequence, the fewest
    sequences, the fewest query heads. grouped: fewer key heads than query heads. ragged:
    sequences of different lengths, or that get different numbers of tokens. arrivals: the ways to
    arrive, to draw from; they take turns where all texts have a window. windowed: each token sees
    so many keys, and not all so far; None: in every second problem, where that is supported.
    full: the text fills the cache.
    """

    families: tuple[str, ...] = entries.ALL
    least: int = 1
    sequences: int = 1
    heads: int = 1
    grouped: bool | None = None
    ragged: bool = False
    arrivals: tuple[str, ...] = ARRIVALS
    windowed: bool | None = False
    full: bool = False
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
        arrivals, window = _in_steps(self, choices, scope, seed, lengths, ragged)
        parts = [x[:, :, at] for at in (slice(size.N), slice(size.N, None)) for x in (q, k, v)]
        drawn: dict[str, Any] = dict(zip(Problem.axes, (*parts, arrivals, lengths), strict=True))
        drawn |= {"rounding": scope.rounding, "products": products_as(scope.conventions)}
        return Problem(**drawn, window=window, full=self.full, dtype=scope.dtype, seed=seed)


def excluded(domain: Texts) -> tuple[str, ...]:
    """The options that no problem of a domain has, in words."""
    lacks = {
        "a window": domain.windowed is False,
        "fewer key heads than query heads": domain.grouped is False,
    }
    return tuple(said for said, lacking in lacks.items() if lacking)


def _lengths(domain: Texts, seed: int, size: Sizes) -> Array:
    """A length for each sequence; the first has all tokens, the others at least the least."""
    lengths = Stream(seed, 2).integers(domain.least, size.N + 1, size.B)
    lengths[0] = size.N
    return lengths


def _in_steps(
    domain: Texts, choices: Choices, scope: Scope, seed: int, lengths: Array, ragged: bool
) -> tuple[Array, int | None]:
    """How many tokens arrive in each step, and the window, if there is one."""
    kind = (choices.turn if domain.windowed else choices.pick)(domain.arrivals)
    if kind == ROUND:
        return _round_a_ring(Stream(seed, 3), lengths)
    arrivals = _arrivals(kind, seed, lengths, ragged)
    has = domain.windowed
    if has is None:
        has = Capability.WINDOW in scope.answers and choices.pick((False, True))
    return arrivals, _window(choices, arrivals, int(lengths.max())) if has else None


def _window(choices: Choices, arrivals: Array, N: int) -> int:
    """A few keys, or about as many as come in a step: longer chunks are refused by many rings."""
    few, step = choices.pick(WINDOWS), min(int(arrivals.max(initial=1)), N)
    return choices.pick((few, step, step, step + 1))


def _round_a_ring(chance: Stream, lengths: Array) -> tuple[Array, int]:
    """Tokens that fill a ring and begin to overwrite it, then a chunk, then the others one by one.

    So the chunk finds keys that do not lie in the order in which they came. It is no longer than
    the window. At least five tokens of each sequence make all of this.   (T, B), W
    """
    least, most = int(lengths.min()), int(lengths.max())
    W = chance.randrange(2, min(least - 3, WINDOWS[-1]) + 1)
    past = W + chance.randrange(1, min(W - 1, least - W - 2) + 1)
    prompt = chance.choice((1, chance.randrange(1, W + 1)))
    chunk = chance.randrange(2, min(W, least - past) + 1)
    counts = [prompt, *[1] * (past - prompt), chunk, *[1] * (most - past - chunk)]
    return np.repeat(np.array(counts)[:, None], len(lengths), axis=1), W


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
