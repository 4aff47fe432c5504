"""The words for problems about positions. Sizes are compared by the letters of their axes.

a position above 255           beyond a table of so many rows, or what a format can count
a first position               other than zero, as behind a cache
positions other than 0, 1, 2   they do not begin at zero, or do not count up by one
positions per sequence         they differ between the sequences of a batch
heads beyond a power of two    their slopes follow a rule of their own
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
        "positions per sequence": rotary.KINDS[Capability.ROWS_OF_POSITIONS],
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
