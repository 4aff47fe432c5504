"""The words for problems about positions. Sizes are compared by the letters of their axes."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from spec.features import FORMATS, Feature, Vocabulary
from spec.meanings import HEADS
from spec.positions.alibi import notation as alibi
from spec.positions.alibi.definition import largest_power_of_two
from spec.positions.record import Capability
from spec.positions.rotary import notation as rotary
from spec.positions.sinusoidal import notation as sinusoidal

ABOVE = (0, 64, 255, 2047)


def _above(limit: int, problem: Any) -> bool:
    return bool(problem.positions.max(initial=0) > limit)


REACHED: Mapping[str, Feature] = {f"a position above {x}": partial(_above, x) for x in ABOVE}
MEANINGS: Mapping[str, str] = {
    **HEADS,
    "N": "the number of tokens (of queries, for a linear bias)",
    "M": "the number of keys",
    "D": "the width of a head",
    "E": "the width of a token",
    "a position above #": "a position is above #",
    "a first position": "the positions begin at another number than 0, as behind a cache",
    "positions other than 0, 1, 2": "the positions do not begin at 0, or do not count up by one",
    "positions in any order": "the positions do not count up by one",
    "positions per sequence": "the positions differ between the sequences of a batch",
    "several pairs": "more than two columns are rotated",
    "a partial rotation": "only the first columns are rotated",
    "another base": "the base of the frequencies is not 10000",
    "a list of slopes": "the slopes are given, and not derived from the number of heads",
    "heads beyond a power of two": "the number of heads is no power of 2, so slopes are filled in",
}

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
