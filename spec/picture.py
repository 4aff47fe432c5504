"""What there is to look at in a problem beside its own arrays: matrices, and what they hide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spec.notation import Array


@dataclass(frozen=True, eq=False)
class Picture:
    """An array of which the last two axes are to be drawn.

    name: what it is called; letters: its axes, as in `Posed.axes`. hidden: True where nothing is
    read, of the same shape; None where all is. share: its entries lie between 0 and 1.
    """

    name: str
    array: Array
    letters: str = ""
    hidden: Array | None = None
    share: bool = False


Pictures = Callable[[Any], tuple[Picture, ...]]


def no_pictures(_: Any) -> tuple[Picture, ...]:
    """Of a problem there is nothing to see but its arrays."""
    return ()
