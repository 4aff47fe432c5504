"""Long problems whose result depends on each of a few planted keys, or queries.

Among 100 000 keys of equal weight, a lost key changes the output by less than float32 may round.
So the weight is planted: half of it or more is on a few keys, with values unlike the others'. The
first and the last key are always among them; the others are drawn, and some lie next to a power of
two. There are three kinds of scores:

    heavy      few keys have most of the weight, each about as much as all the others together
    staircase  scores have two levels, and the keys of each level have half of the weight
    equal      all scores are zero, so that the output is the mean of the values

Of several queries, the second one always has equal scores.

Of long sequences of queries, in half of the problems only a few planted ones have a cotangent, so
that the gradients of keys and values are sums of a few terms.

A problem has few queries or few keys, so the matrix of scores is linear in the length, and so are
the definition and its error bounds. The first of a series is as long as the profile allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from spec.attention import held
from spec.attention.conventions import as_chosen
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.choices import Choices
from spec.domain import Scope
from spec.formats import rounded
from spec.notation import Array
from spec.sizes import Sizes, long, up
from spec.stream import Stream
from spec.subject import holding

Along = Literal["keys", "queries"]
KINDS = ("heavy", "staircase", "equal")
WIDTHS = (2, 4, 1, 3, 8)
PLANTED = 4  # keys that have most of the weight, or queries that have a cotangent
ROOM = 2**14  # scores of a problem, unless it is so long that two rows have more
FACTOR = 4.0  # of the queries in the column that plants the scores; float16 has no large entries
STEP = 3  # from the values on one level to those on the other; of each, they are 0, 1/4 or 1/2 more
# Planted values, in the order of the keys. If each has as much weight as all other keys together,
# no one is lost, or counts twice, alone or with all before or after it, without a change of the
# output by 0.11 of the mean size of values. A sum of 2^20 numbers in float32 may be wrong by half
# of that.
VALUES = (7, -2, -2, -3)


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A domain of long problems: many keys and few queries, or many queries and few keys."""

    along: Along
    least: tuple[int, int, int, int] = (1, 1, 1, 1)
    about: ClassVar[str] = "attention"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain always requires, as does every clause over it."""
        of_queries = self.along == "queries"
        return holding({Capability.LENGTHS: True, Capability.QUERIES: of_queries})

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        size, longest = _sizes(choices, scope, self.along)
        kind = "heavy" if longest else choices.pick(KINDS)
        causal, memory = _causal(choices, scope), held.memory(choices, scope.answers)
        chance = Stream(seed := choices.seed())
        arrays = [np.round(4 * chance.normal(*shape)) / 8 for shape in size.shapes]
        if self.along == "keys":
            _plant(kind, chance, arrays, size)
        elif longest or chance.below(2):
            few = np.isin(np.arange(size.N), places(chance, size.N))
            arrays[-1] *= few[:, None]
        if memory == "expanded":
            arrays[1:3] = (np.repeat(x[:1], len(x), axis=0) for x in arrays[1:3])
        q, k, v, dout = (rounded(x, scope.dtype) for x in arrays)
        return Problem(
            q,
            k,
            v,
            dout,
            causal=causal,
            dtype=scope.dtype,
            rounding=scope.rounding,
            **as_chosen(scope.conventions),
            memory=memory,
            seed=choices.places(seed),
            **held.drawn(choices, scope.answers),
        )


def _sizes(choices: Choices, scope: Scope, along: Along) -> tuple[Sizes, bool]:
    """The sizes, and whether the length is the longest of the profile."""
    lengths, widths = (scope.multiples.get(x, 1) for x in ("lengths", "widths"))
    D = choices.pick(up(widths, WIDTHS))
    E = choices.pick(up(widths, (D, *WIDTHS))) if Capability.WIDTHS in scope.answers else D
    many, longest = long(choices, scope.reach, D + E)
    (many,) = up(lengths, (many,))
    few = max(2, min(choices.pick((2, 3, 4)), ROOM // many))
    H = choices.pick((1, 2)) if Capability.SEVERAL in scope.answers else 1
    H = min(H, max(1, ROOM // (few * many)))
    G = choices.pick((H, 1)) if Capability.GROUPS in scope.answers else H
    if along == "queries":
        (M,) = up(lengths, (few,))
        return Sizes(1, H, G, many, M, D, E), longest
    several = lengths == 1 and Capability.QUERIES in scope.answers  # a single one is exempt
    return Sizes(1, H, G, few if several else 1, many, D, E), longest


def _causal(choices: Choices, scope: Scope) -> bool:
    """Whether a problem is causal: where few queries come after many keys, it may be."""
    if Capability.FUTURE not in scope.answers:
        return True
    last = as_chosen(scope.conventions)["corner"] == "bottom-right"
    return last and Capability.CAUSAL in scope.answers and choices.pick((False, True))


def places(chance: Stream, length: int) -> Array:
    """Places in a sequence: the first, the last, and others, some next to a power of two."""
    near = 2 ** chance.below(max(1, int(length).bit_length())) - 1 + chance.below(3)
    drawn = [chance.below(length) for _ in range(PLANTED - 3)]
    return np.unique([0, length - 1, min(near, length - 1), *drawn])


def _plant(kind: str, chance: Stream, arrays: Sequence[Array], size: Sizes) -> None:
    """Give the keys their scores, and values that show which of them were read."""
    q, k, v, _ = arrays
    found = places(chance, size.M)
    v[...] = (np.sign(np.round(2 * v)) + 1) / 4  # its mean shows if keys are counted wrong
    q[..., 0], k[..., 0] = FACTOR, 0
    q[..., 1:2, :] = 0
    if kind == "equal":
        k[...] = 0
    elif kind == "staircase":
        step = max(1, found[-2] if len(found) > 1 else 1)
        k[..., 1:] = 0
        k[..., step:, 0] = _key(np.log(step / max(1, size.M - step)), size)
        v[..., step:, :] -= STEP
    else:
        k[..., found, :] = 0
        k[..., found, 0] = _key(np.log(max(1, size.M - len(found))), size)
        v[..., found, :] = np.array(VALUES)[: len(found), None]


def _key(score: float, size: Sizes) -> float:
    """The entry of a key that gives it a score with the default scale."""
    return float(score * np.sqrt(size.D) / FACTOR)
