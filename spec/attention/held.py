"""How arrays are passed to a function: their memory, and the format of an additive mask.

To one with a paged KV cache or packed sequences, this is also the page size, the number of new
keys, and the number of padding tokens after the last sequence. It never changes a result.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spec.attention.options import Capability
from spec.choices import Choices
from spec.domain import Scope
from spec.notation import HALF, Array, Memory

PAGES = (0, 3, 1, 2, 4, 7, 16)  # keys per page; 0 for no pages
ADDED = (0, 0, 1, 2, 3)
SPARE = (0, 0, 1, 5)
HELD: Mapping[str, tuple[Capability, tuple[int, ...]]] = {
    "page": (Capability.PAGES, PAGES),
    "added": (Capability.ADDED, ADDED),
    "spare": (Capability.SPARE, SPARE),
}
TIDY: tuple[Memory, ...] = ("contiguous",) * 4
DENSE_MEMORIES: tuple[Memory, ...] = (*TIDY, "transposed", "offset", "expanded")
MEMORIES: tuple[Memory, ...] = (*DENSE_MEMORIES, "strided")


def memory(choices: Choices, answers: frozenset[str]) -> Memory:
    """A memory layout; one with gaps where these are supported."""
    return choices.pick(MEMORIES if Capability.STRIDES in answers else DENSE_MEMORIES)


def formatted(choices: Choices, scope: Scope, mask: Array | None) -> Array | None:
    """A mask; every second additive one in float32, where that is supported with 16 bits."""
    if mask is None or mask.dtype == bool or scope.dtype not in HALF:
        return mask
    mixed = Capability.MIXED in scope.answers and choices.pick((False, True))
    return mask.astype(np.float32) if mixed else mask


def drawn(choices: Choices, answers: frozenset[str]) -> Mapping[str, Any]:
    """The fields `page`, `added` and `spare` of a problem, as far as they are supported."""
    return {x: choices.pick(some) for x, (kind, some) in HELD.items() if kind in answers}
