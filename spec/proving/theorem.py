"""Proofs: functions that return a value that is zero according to their theorem.

A function that returns zero proves nothing by itself: a zero is also what a typing
error, a lost term or an obliging simplifier gives. So every theorem takes a parameter
that plants a fault in it, and its control is the same proof with that fault, which
must not come out as zero. The grades say how far a theorem reaches:

    proved            for any number of keys, which are summed over symbolically
    proved at sizes   for all numbers, in arrays of the sizes that are stated
    checked exactly   for the examples tried, without rounding

A theorem that is checked exactly is a law: a function of a problem. Running it on examples is no
proof, but it is the definition's own code at sizes out of reach of formulas, and nothing is
forgiven: one wrong term in one place of one example is not zero.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from spec.clause import Evidence
from spec.notation import Array

Theorem = Callable[..., Any]
Decorator = Callable[[Theorem], Evidence]


def proved(sizes: str, **control: Any) -> Decorator:
    """A theorem for any number of keys; `control` are the arguments that make it false."""
    return lambda theorem: Evidence("proved", theorem, partial(theorem, **control), sizes)


def proved_at(sizes: str, **control: Any) -> Decorator:
    """A theorem for all numbers at fixed sizes; `control` are the arguments that make it false."""
    return lambda theorem: Evidence("proved at sizes", theorem, partial(theorem, **control), sizes)


def checked(examples: Callable[[], Iterable[Any]], sizes: str, **control: Any) -> Decorator:
    """A law of every one of the examples; `control` are the arguments that make it false."""

    def evidence(law: Theorem) -> Evidence:
        def run(**fault: Any) -> Array:
            return flat(law(problem, **fault) for problem in examples())

        return Evidence("checked exactly", run, partial(run, **control), sizes)

    return evidence


def flat(parts: Iterable[Any]) -> Array:
    """All entries of all parts in a row."""
    return np.concatenate([np.ravel(part) for part in parts])
