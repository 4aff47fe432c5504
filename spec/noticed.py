"""Comparisons of sizes that a failing problem suggests: its sizes, and what is left of their tiles.

If no smaller problem fails, its size may be the condition, or any size at least as large, or its
remainder, as of a last tile that is not full.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Comparison = tuple[str, str, int]  # the letter of an axis, or M % 16; a sign; a number

THRESHOLDS = (*(2**x for x in range(11)), 4096, 16384, 32768, 65536)
MULTIPLES = (2, 4, 8, 16, 64)
TILES = (64, 16, 8, 4)  # the largest first; M % 2 != 0 says all that M % 2 = 1 does
SIZES = (0, 1, 2)  # always compared by equality
SIGNS: Mapping[str, Callable[[int, int], bool]] = {"=": operator.eq, ">": operator.gt}


def noticed(letters: str, problem: Any) -> list[Comparison]:
    """The comparisons of the sizes of a problem that no vocabulary has already."""
    found: list[Comparison] = []
    for letter, size in ((x, getattr(problem, x)) for x in letters):
        found += [(letter, "=", size)] if size not in SIZES else []
        found += [(letter, ">", size - 1)] if size > 1 and size - 1 not in THRESHOLDS else []
        found += [(f"{letter} % {x}", "=", size % x) for x in TILES if 0 < size % x < size]
    return found


def looked(problem: Any, comparisons: Iterable[Comparison]) -> Iterator[bool]:
    """Which of the comparisons hold for a problem."""
    for words, sign, number in comparisons:
        letter, _, tile = words.partition(" % ")
        size: int = getattr(problem, letter)
        yield SIGNS[sign](size % int(tile) if tile else size, number)
