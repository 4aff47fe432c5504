"""How arrays are passed to a function with a paged KV cache or packed sequences.

This is the page size, the number of new keys, and the number of padding tokens after the last
sequence. It does not affect a function of dense arrays, and never changes a result.
"""

from collections.abc import Mapping
from typing import Any

from spec.attention.options import Capability
from spec.choices import Choices

PAGES = (0, 3, 1, 2, 4, 7, 16)  # keys per page; 0 for no pages
ADDED = (0, 0, 1, 2, 3)
SPARE = (0, 0, 1, 5)
HELD: Mapping[str, tuple[Capability, tuple[int, ...]]] = {
    "page": (Capability.PAGES, PAGES),
    "added": (Capability.ADDED, ADDED),
    "spare": (Capability.SPARE, SPARE),
}


def drawn(choices: Choices, answers: frozenset[str]) -> Mapping[str, Any]:
    """The fields `page`, `added` and `spare` of a problem, as far as they are supported."""
    return {x: choices.pick(some) for x, (kind, some) in HELD.items() if kind in answers}
