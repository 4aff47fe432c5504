"""Ways to run a function on many things: one after another, or several at the same time."""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeVar

Put = TypeVar("Put")
Told = TypeVar("Told")


class Each(Protocol):
    """Runs a function on many things, in order or at the same time; yields results in order."""

    def __call__(
        self, function: Callable[[Put], Told], things: Sequence[Put], /
    ) -> Generator[Told, None, None]: ...


def one_by_one(
    function: Callable[[Put], Told], things: Sequence[Put]
) -> Generator[Told, None, None]:
    """Yield the results of a function, each computed when it is needed."""
    yield from map(function, things)
