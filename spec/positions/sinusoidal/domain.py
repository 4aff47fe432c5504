"""Where the clauses about sinusoidal positions quantify.

Sizes at which code changes its way: one token, one column, odd widths, the ends of tiles, more
positions than bfloat16 or float16 can count (256 and 2048), and far ones where angles
lose their digits. Nothing is filtered: what is not answered is not drawn.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from spec import entries
from spec.choices import Choices
from spec.domain import Scope
from spec.positions.record import LONG, Capability
from spec.positions.sinusoidal.notation import Problem
from spec.sizes import EDGES, SMALL

FAMILIES = ("lattice", "ties", "normal", "heavy", "tiny")
WIDTHS = (2, 4, 6, 8, 10, 16, 64, 128)
ODD = (1, 3, 5, 7, 65)
LENGTHS = (*SMALL, *SMALL, *SMALL, *EDGES[:9])
LONG_LENGTHS = (257, 513, 1300)
NEAR = (1, 2, 3, 7, 30)
FAR = (255, 511, 2047, 2049, 4095, 32767, 65536, 99999)
MOST = 2**17  # numbers in an array


@dataclass(frozen=True)
class Tokens:
    """A domain of problems. least: the smallest N. even: no odd width. offset: first > 0.

    near: no positions beyond a few dozen, where budgets say most. families: of entries.
    """

    least: int = 1
    even: bool = False
    offset: bool = False
    near: bool = False
    families: tuple[str, ...] = FAMILIES
    about: ClassVar[str] = "sinusoidal"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain requires, and a clause over it needs as well."""
        return frozenset({Capability.OFFSET} if self.offset else ())

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        E = _width(choices, self, scope)
        N = _length(choices, self, scope)
        B = choices.pick((1, 2, 3)) if N * E < MOST // 3 else 1
        first = _first(choices, self, scope, N)
        shapes = ((B, N, E), (0, 1), (0, 1), (B, N, E))
        seeded = partial(entries.entries, dtype=scope.dtype)
        x, _, _, dout = entries.drawn(choices, self.families, shapes, seeded)
        seed = choices.places(choices.seed())
        return Problem(x, dout, first=first, dtype=scope.dtype, rounding=scope.rounding, seed=seed)


def _width(choices: Choices, domain: Tokens, scope: Scope) -> int:
    odd = Capability.ODD_WIDTHS in scope.answers and not domain.even
    return choices.pick((*WIDTHS[:2], *ODD, *WIDTHS[2:]) if odd else WIDTHS)


def _length(choices: Choices, domain: Tokens, scope: Scope) -> int:
    if domain.near or scope.reach == "small":
        return max(domain.least, choices.pick(LENGTHS[:20]))
    long = LONG_LENGTHS if Capability.LONG in scope.answers else ()
    return max(domain.least, choices.pick((*LENGTHS, *long)))


def _first(choices: Choices, domain: Tokens, scope: Scope, N: int) -> int:
    if Capability.OFFSET not in scope.answers:
        return 0
    far = FAR if Capability.LONG in scope.answers and not domain.near else ()
    firsts = (*((0,) * 6 if not domain.offset else ()), *NEAR, *far)
    first = choices.pick(firsts)
    return first if Capability.LONG in scope.answers else max(0, min(first, LONG - N))
