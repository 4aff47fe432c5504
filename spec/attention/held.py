"""How arrays reach who has keys in a cache, or texts packed.

In pages of what size, how many of the keys new, and with how many tokens of no text behind the last
one: it is nothing to who has whole arrays, and to no answer.
"""

from collections.abc import Mapping
from typing import Any

from spec.attention.options import Capability
from spec.choices import Choices

PAGES = (0, 3, 1, 2, 4, 7, 16)  # keys in a page, 0 being no pages
ADDED = (0, 0, 1, 2, 3)
SPARE = (0, 0, 1, 5)
HELD: Mapping[str, tuple[Capability, tuple[int, ...]]] = {
    "page": (Capability.PAGES, PAGES),
    "added": (Capability.ADDED, ADDED),
    "spare": (Capability.SPARE, SPARE),
}


def drawn(choices: Choices, answers: frozenset[str]) -> Mapping[str, Any]:
    """What a problem says of it, to who can be told."""
    return {x: choices.pick(some) for x, (kind, some) in HELD.items() if kind in answers}
