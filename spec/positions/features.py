"""What can be said of a problem about positions, in a word each; sizes are compared as letters.

a position above 255           beyond a table of so many rows, or what a format can count
a first position               that is not zero, as behind a cache
positions other than 0, 1, 2   text does not begin at zero, or it goes on in another way
positions by batch element     they are not the same in all of them
heads beyond a power of two    whose slopes have a rule of their own
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from spec.features import FORMATS, Feature, Vocabulary
from spec.positions.alibi import notation as alibi
from spec.positions.alibi.definition import largest_power_of_two
from spec.positions.record import Capability
from spec.positions.rotary import notation as rotary
from spec.positions.sinusoidal import notation as sinusoidal

ABOVE = (0, 64, 255, 2047)


def _above(limit: int, problem: Any) -> bool:
    return bool(problem.positions.max(initial=0) > limit)


REACHED: Mapping[str, Feature] = {f"a position above {x}": partial(_above, x) for x in ABOVE}

ROTARY = Vocabulary(
    {
        **REACHED,
        "a first position": rotary.KINDS[Capability.OFFSET],
        "positions other than 0, 1, 2": lambda p: (p.positions != np.arange(p.N)).any(),
        "positions in any order": rotary.KINDS[Capability.POSITIONS],
        "positions by batch element": rotary.KINDS[Capability.ROWS_OF_POSITIONS],
        "several pairs": lambda p: p.width > 2,
        "a partial rotation": rotary.KINDS[Capability.PARTIAL_ROTATION],
        "another base": rotary.KINDS[Capability.BASE],
        **FORMATS,
    },
    "BHND",
)
SINUSOIDAL = Vocabulary(
    {**REACHED, "a first position": sinusoidal.KINDS[Capability.OFFSET], **FORMATS}, "BNE"
)
ALIBI = Vocabulary(
    {
        "a list of slopes": alibi.KINDS[Capability.SLOPES],
        "heads beyond a power of two": lambda p: largest_power_of_two(p.H) < p.H,
        **FORMATS,
    },
    "HNM",
    (("N", "M"),),
)
