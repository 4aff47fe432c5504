"""What a proof is here: a function that returns what its theorem says is zero.

A function that returns zero proves nothing by itself: a zero is also what a typing
error, a lost term or an obliging simplifier gives. So every theorem takes a parameter
that plants a fault in it, and its control is the same proof with that fault, which
must not come out as zero. The grades say how far a theorem reaches:

    proved            for any number of keys, which are summed over symbolically
    proved at sizes   for all numbers, in arrays of the sizes that are stated
    checked exactly   for the numbers tried, without rounding (`spec.attention.proofs.examples`)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from spec.clause import Evidence

Theorem = Callable[..., Any]
Decorator = Callable[[Theorem], Evidence]


def proved(sizes: str, **control: Any) -> Decorator:
    """A theorem for any number of keys; `control` are the arguments that make it false."""
    return lambda theorem: Evidence("proved", theorem, partial(theorem, **control), sizes)


def proved_at(sizes: str, **control: Any) -> Decorator:
    """A theorem for all numbers at fixed sizes; `control` are the arguments that make it false."""
    return lambda theorem: Evidence("proved at sizes", theorem, partial(theorem, **control), sizes)
