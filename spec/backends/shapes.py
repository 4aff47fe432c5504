"""The shapes of arguments in letters, for the error of a call that raised an exception."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

ACCEPTED = "accepted"  # in what was given, in place of a name: shapes for which nothing was raised
RAISED = "; raised for "  # opens the end of a message


def in_letters(shape: tuple[int, ...], sizes: Mapping[str, int]) -> str:
    """A shape by the letters of its axes, such as "(B, 1, 1, M)".

    sizes: of axes in their order, by letter. Axes may be left out; two that are one are a product.
    """
    left, words = [*sizes.items()], list[str]()
    for size in reversed(shape):
        at = next((i for i in reversed(range(len(left))) if left[i][1] == size), None)
        if size == 1 or at is None:
            folded = (f"{x}*{y}" for (x, m), (y, n) in pairwise(left) if m * n == size)
            words.append("1" if size == 1 else next(folded, str(size)))
        else:
            words.append(left[at][0])
            left = left[:at]
    return f"({', '.join(reversed(words))})"


def raised_for(tried: Iterable[Mapping[str, str]]) -> str:
    """The end of a message: the shapes of arguments for which calls raised an exception.

    tried: for each call, the shapes by the names of the arguments.
    """
    shapes: dict[str, dict[str, None]] = {}
    for given in tried:
        for name, shape in given.items():
            shapes.setdefault(name, {})[shape] = None
    accepted = ", ".join(shapes.pop(ACCEPTED, ()))
    words = " with ".join(f"{name} {', '.join(found)}" for name, found in shapes.items())
    return f"{RAISED}{words}{f'; accepted {accepted}' if accepted else ''}" if words else ""
