"""The shapes that a clause can be given for a target that compiles, and what each shows."""

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
    """The shapes that a clause can be given, and those that it was given.

    asked: the calls that a shape leads to. said: a row for each shape, with the features of its
    problem and then, for `mistakes` known bugs that the clause names, whether its calls would show
    them. unseen: the value of each pair of columns that no given shape has shown.
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
        """The value of what each other shape would show for the first time, if it is positive.

        The first shape is chosen by features alone, so that clauses share first shapes if possible.
        """
        told = slice(None if self.shapes else self.said.shape[1] - self.mistakes)
        said, unseen = self.said[:, told], self.unseen[told, told]
        new = ((said @ unseen) * said).sum(axis=1)
        pairs = zip(self.asked, new.tolist(), strict=True)
        return {shape: gain for shape, gain in pairs if gain and shape not in self.shapes}

    def give(self, shape: int) -> None:
        """Note that the clause was given one more shape."""
        row = self.said[[*self.asked].index(shape)]
        self.unseen = self.unseen * (1 - np.outer(row, row))
        self.shapes.append(shape)


def programs_of(calls: Calls) -> Asked:
    """The programs that some calls compile: by function, shapes, and other arguments."""
    return frozenset((name, (*shapes_of(put), _shape_of(rest))) for name, put, rest in calls)


def _shape_of(x: Any) -> Any:
    """The part of a value that a program is compiled for: shapes, but no numbers of arrays."""
    if isinstance(x, np.ndarray):
        return x.shape, x.dtype == bool
    return tuple(map(_shape_of, x)) if isinstance(x, tuple) else repr(x)


def shapes_of(problem: Any) -> Shapes:
    """The part of a problem that a program is compiled for: shapes and options."""
    shapes = [(name, *_shape_of(x)) for name, x in arrays(problem).items()]
    options = ((name, getattr(problem, name)) for name, _ in optional(problem.__class__))
    plain = [(name, x) for name, x in options if not isinstance(x, np.ndarray)]
    return (*shapes, *plain)
