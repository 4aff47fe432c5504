"""What a clause can be given of a target that compiles: in which shapes, and what these show."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.clause import Clause
from spec.notation import Array
from spec.written import arrays, optional

Shapes = tuple[Any, ...]  # of arrays by name, and all options
Calls = Collection[tuple[str, Any, Any]]  # a function, what it is put, and what is beside that
Asked = frozenset[tuple[str, Shapes]]  # a function, and what it is asked
NAMED = 8  # times as much as a word is a mistake worth that the clause names


@dataclass
class Given:
    """What a clause can be given, and what it is.

    asked: what it then asks for, by shape; said: the features of its problem, a row for each, and
    behind them so many mistakes that it names: whether it asks for something that they do wrong.
    unseen: what pairs of these are worth that no problem of a shape which it was given has.
    """

    clause: Clause
    asked: Mapping[int, Asked]
    said: Array
    mistakes: int = 0
    shapes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        worth = np.ones(self.said.shape[1], dtype=self.said.dtype)
        worth[len(worth) - self.mistakes :] = NAMED
        self.unseen: Array = np.outer(worth, worth)

    def gains(self) -> Mapping[int, float]:
        """How much would be seen for the first time in each other shape, if anything would.

        At first in words alone: clauses are to share their first shapes, as far as they can.
        """
        told = slice(None if self.shapes else self.said.shape[1] - self.mistakes)
        said, unseen = self.said[:, told], self.unseen[told, told]
        new = ((said @ unseen) * said).sum(axis=1)
        pairs = zip(self.asked, new.tolist(), strict=True)
        return {shape: gain for shape, gain in pairs if gain and shape not in self.shapes}

    def give(self, shape: int) -> None:
        """Note that it was given another shape."""
        row = self.said[[*self.asked].index(shape)]
        self.unseen = self.unseen * (1 - np.outer(row, row))
        self.shapes.append(shape)


def programs_of(calls: Calls) -> Asked:
    """What is compiled for some calls: of a function, what it is put, and what is beside that."""
    return frozenset((name, (*shapes_of(put), _shape_of(rest))) for name, put, rest in calls)


def _shape_of(x: Any) -> Any:
    """What of a value a program is compiled for, whatever numbers its arrays hold."""
    if isinstance(x, np.ndarray):
        return x.shape, x.dtype == bool
    return tuple(map(_shape_of, x)) if isinstance(x, tuple) else repr(x)


def shapes_of(problem: Any) -> Shapes:
    """What a program is compiled for that a problem is put to: shapes and options."""
    shapes = [(name, *_shape_of(x)) for name, x in arrays(problem).items()]
    options = ((name, getattr(problem, name)) for name, _ in optional(problem.__class__))
    plain = [(name, x) for name, x in options if not isinstance(x, np.ndarray)]
    return (*shapes, *plain)
