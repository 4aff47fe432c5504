"""Where the clauses about linear biases quantify.

Head counts that are powers of two and such as are not, also one; as many queries as keys, or fewer,
as behind a cache; slopes that are asked for, zero among them. Nothing is filtered.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spec.choices import Choices
from spec.domain import Scope
from spec.positions.alibi.notation import Problem
from spec.positions.record import Capability
from spec.sizes import EDGES, SMALL
from spec.subject import holding

HEADS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 40)
LENGTHS = (*SMALL, *SMALL, *EDGES[:9], 64, 65)
LONG_LENGTHS = (257, 300)
CACHED = (1, 2, 3, 7, 16, 33)
LONG_CACHES = (300, 600)
SLOPES = (0.0, 0.5, 1.0, 0.25, 0.125, 3.0)
MOST = 2**17  # numbers in a bias


@dataclass(frozen=True)
class Biases:
    """A domain of problems. cached: fewer queries than keys. asked: slopes are given.

    least: the smallest N. near: few tokens. published: no slopes are given.
    symmetric: of biases that look to both sides.
    """

    cached: bool = False
    asked: bool = False
    least: int = 1
    near: bool = False
    published: bool = False
    symmetric: bool = False
    about: ClassVar[str] = "alibi"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain requires, and a clause over it needs as well."""
        asked = {
            Capability.OFFSET: self.cached,
            Capability.SLOPES: self.asked,
            Capability.SYMMETRIC: self.symmetric,
        }
        return holding(asked)

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        H = choices.pick(HEADS)
        long = not self.near and scope.reach != "small"
        N = max(self.least, choices.pick((*LENGTHS, *(LONG_LENGTHS if long else ()))))
        first = 0
        if Capability.OFFSET in scope.answers:
            caches = (*CACHED, *(LONG_CACHES if long else ()))
            first = choices.pick(caches if self.cached else (*(0,) * 6, *caches))
        N = min(N, max(self.least, MOST // (H * (N + first))))
        scores = np.zeros((H, N, N + first))  # what they are does not matter to a bias
        asked = None
        if Capability.SLOPES in scope.answers and not self.published:
            given = [choices.pick(SLOPES) for _ in range(H)]
            asked = np.array(given) if self.asked or choices.pick((False, False, True)) else None
        seed = choices.places(choices.seed())
        return Problem(scores, asked=asked, dtype=scope.dtype, rounding=scope.rounding, seed=seed)
