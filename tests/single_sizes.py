"""Faults that show at a single size, made by chance, and the share of them that is refused.

    python -m tests.single_sizes --count 300          by who does not compile, and by who does
    python -m tests.single_sizes --without A11,A12    as it was before there were these clauses

Each loses the last place along an axis, in the output or in gradients, where that axis is as long
as one number says: one that is in no list of lengths that are drawn (`spec.sizes`), or one. What a
right program is never asked shows no fault, so that only the others are judged.
"""

import argparse
import random
import sys
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from spec.attention.mistakes.making import RIGHT, wrong
from spec.attention.plug import implementation
from spec.attention.record import Implementation
from spec.kinds import KINDS
from spec.notation import Array
from spec.sizes import EACH, EACH_WIDTH, EDGES, LONG, SHARING, SMALL, TILED, WIDE, WIDTHS
from tests.judging import bound, found, planner

AXES = {"B": 0, "H": 1, "N": 2, "M": 3, "D": 3, "E": 3}  # of the first array that each step has
FORWARD = {**dict.fromkeys("BHNE", "finish"), "M": "weigh", "D": "scores"}
GRADIENT = {"B": "query", "H": "value", "N": "value", "M": "key", "D": "query", "E": "value"}
LISTED = {
    **dict.fromkeys("NM", (*SMALL, *EDGES, *TILED, *LONG)),
    **dict.fromkeys("DE", (*WIDTHS, *WIDE)),
    "H": tuple(g * ratio for g in (1, 2, 3) for ratio in SHARING),
    "B": (1, 2, 3),
}
KIND = KINDS["attention"]


class Fault(NamedTuple):
    """What is wrong where an axis is so long: the output, or a gradient."""

    axis: str
    size: int
    gradient: bool

    @property
    def step(self) -> str:
        """The step that is replaced."""
        return f"{GRADIENT[self.axis]}_gradients" if self.gradient else FORWARD[self.axis]

    def subject(self) -> Implementation:
        """The program that is wrong."""
        replaced = _first_spoiled if self.step in ("weigh", "scores") else _answer_spoiled
        made: Callable[..., Any] = replaced(self)
        made.__name__, made.__doc__ = "spoiled", str(self)
        return implementation(wrong(self.step, incident="BUG-13")(made), backend="numpy")


def _first_spoiled(fault: Fault) -> Callable[..., Any]:
    """The step, which is given its first array without the last place."""
    right = getattr(RIGHT, fault.step)

    def spoiled(x: Array, *rest: Any) -> Any:
        if x.shape[-1] != fault.size:
            return right(x, *rest)
        if fault.axis == "D":
            return right(_without_last(x, 3), *rest)
        return right(x, rest[0] & (np.arange(fault.size) < fault.size - 1))

    return spoiled


def _answer_spoiled(fault: Fault) -> Callable[..., Any]:
    """The step, which returns its answer without the last place."""
    right, axis = getattr(RIGHT, fault.step), AXES[fault.axis]

    def spoiled(first: Any, *rest: Any) -> Any:
        sizes = first.sizes if fault.gradient else None
        length = getattr(sizes, fault.axis) if sizes else first.shape[axis]
        out = right(first, *rest)
        along = 2 if fault.axis in "NM" else axis  # of the gradients by rows, as of the output
        return _without_last(out, along) if length == fault.size else out

    return spoiled


def _without_last(x: Array, axis: int) -> Array:
    """The same, with zeros in the last place along an axis."""
    kept = np.arange(x.shape[axis]) < x.shape[axis] - 1
    return np.where(kept.reshape(-1, *(1,) * (x.ndim - 1 - axis)), x, 0).astype(x.dtype)


def faults(count: int, seed: int = 0) -> list[Fault]:
    """So many at sizes that nobody would think of, and those at length one."""
    every = [*EACH, *((axis, size) for axis in "DE" for size in EACH_WIDTH)]
    new = [(axis, size) for axis, size in every if size == 1 or size not in LISTED[axis]]
    made = [Fault(axis, size, gradient) for axis, size in new for gradient in (False, True)]
    return random.Random(seed).sample(made, count)


def met(subject: Implementation, without: Collection[str]) -> set[Fault]:
    """The sizes that a right program is asked about, and what for."""
    seen: set[Fault] = set()

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def asked(problem: Any, *rest: Any) -> Any:
            sizes = ((axis, getattr(problem, axis)) for axis in AXES)
            seen.update(Fault(*x, name in ("backward", "partial")) for x in sizes)
            return function(problem, *rest)

        return asked

    watched = subject.through(noted)
    for clause in bound(subject):
        if clause.number not in without:
            found(clause, watched, "float32")
    return seen


def refused(fault: Fault, palette: Any, without: Collection[str] = ()) -> bool:
    """Whether some clause refuses it at the standard profile; the likeliest are tried first."""
    subject = fault.subject().but(palette=palette)
    every = sorted(bound(subject), key=lambda clause: clause.number not in ("A11", "A12"))
    left = (clause for clause in every if clause.number not in without)
    return any(found(clause, subject, "float32").violation for clause in left)


def palette() -> Any:
    """What who compiles is asked."""
    right = Fault("N", 0, True).subject()
    return planner(right).palette(bound(right))


def main() -> int:
    """Print the share that is refused, in both settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", default="", help="clauses that are left out")
    asked = parser.parse_args()
    without, right = asked.without.split(","), Fault("N", 0, True).subject()
    for setting, shapes in (("free", {}), ("in few shapes", palette())):
        known = met(right.but(palette=shapes), without)
        chosen = [x for x in faults(asked.count, asked.seed) if x in known]
        caught = [x for x in chosen if refused(x, shapes, without)]
        print(f"{setting}: {len(caught)} of {asked.count} refused; {len(chosen)} met", flush=True)
        print(*(f"met and not refused: {x}" for x in chosen if x not in caught), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
