"""What can be said of a problem about positions, in a word each; sizes are compared as letters.

a position above 255       of the last of many rows: of a table, of a format that counts so far
a first position           text begins behind a cache, in some batch element
positions by batch element they are not the same in all of them
heads beyond a power of two: their slopes have a rule of their own
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from spec.features import FORMATS, Feature, Vocabulary, said_by
from spec.positions.alibi.definition import largest_power_of_two
from spec.positions.rotary.notation import Problem as Queries

ABOVE = (0, 16, 255, 2047)


def _above(limit: int, problem: Any) -> bool:
    return bool(problem.positions.max(initial=0) > limit)


REACHED: Mapping[str, Feature] = {f"a position above {x}": partial(_above, x) for x in ABOVE}

ROTARY = Vocabulary(
    {
        **REACHED,
        "a first position": lambda p: p.positions[:, :1].any(),
        "positions other than 0, 1, 2": lambda p: (p.positions != np.arange(p.N)).any(),
        "positions by batch element": lambda p: (p.positions != p.positions[:1]).any(),
        "several pairs": lambda p: p.width > 2,
        "a partial rotation": lambda p: p.width != p.D,
        "another base": said_by(Queries)["another base"],
        **FORMATS,
    },
    "BHND",
)
SINUSOIDAL = Vocabulary({**REACHED, "a first position": lambda p: p.first != 0, **FORMATS}, "BNE")
ALIBI = Vocabulary(
    {
        "a list of slopes": lambda p: p.asked is not None,
        "heads beyond a power of two": lambda p: largest_power_of_two(p.H) != p.H,
        **FORMATS,
    },
    "HNM",
    (("N", "M"),),
)
