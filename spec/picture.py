"""The pictures of a problem in addition to its arrays: matrices, and their masked parts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spec.notation import Array


@dataclass(frozen=True, eq=False)
class Picture:
    """An array whose last two axes are drawn.

    name: its title; letters: its axes, as in `Posed.axes`. hidden: True where nothing is read, of
    the same shape; None if all is read. share: its entries lie between 0 and 1.
    """

    name: str
    array: Array
    letters: str = ""
    hidden: Array | None = None
    share: bool = False


Pictures = Callable[[Any], tuple[Picture, ...]]


def no_pictures(_: Any) -> tuple[Picture, ...]:
    """An empty tuple: nothing is drawn in addition to the arrays of the problem."""
    return ()
