"""How keys reach who has them in a cache: in pages of what size, and how many of them are new.

It is nothing to who has them in an array, and to no answer.
"""

from typing import Any

from spec.attention.options import Capability
from spec.choices import Choices

PAGES = (0, 3, 1, 2, 4, 7, 16)  # keys in a page, 0 being no pages
ADDED = (0, 0, 1, 2, 3)


def drawn(choices: Choices, answers: frozenset[str]) -> dict[str, Any]:
    """What a problem says of it, to who can be told."""
    ways = {"page": (Capability.PAGES, PAGES), "added": (Capability.ADDED, ADDED)}
    return {x: choices.pick(some) if kind in answers else 0 for x, (kind, some) in ways.items()}
