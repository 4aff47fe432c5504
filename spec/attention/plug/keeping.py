"""The expected writes into a cache: new keys after the last ones, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spec.attention.notation import Problem
from spec.attention.plug.layouts import Lying
from spec.attention.plug.paging import NEW, Paging
from spec.backends.library import Library
from spec.comparison import Violation, in_digits
from spec.notation import Array, Call

UNWRITTEN = ("jax",)  # libraries that write into no array: whoever adds something has a new one


class Miswritten(Violation):
    """A cache holds something else than it should after a call.

    name: k or v. want: what it should hold, nothing being NaN.
    """

    def __init__(self, name: str, got: Array, want: Array) -> None:
        place = tuple(map(int, np.argwhere(~_same(got, want))[0]))
        there = "got {}, want {}".format(*in_digits(got[place], want[place], fewest=6))
        super().__init__(f"the cache of {name} is written wrongly at {place}: {there}")
        self.name, self.want = name, want


def kept(library: Library, lies: Lying, problem: Problem, arrays: Sequence[Any]) -> None:
    """Raises Miswritten: a cache that q, k and v were read from does not hold what it should."""
    if not isinstance(lies, Paging) or not lies.writes or library.name in UNWRITTEN:
        return
    everything = np.ones_like(lies.new)
    for name, array in zip(NEW, arrays[-2:], strict=True):
        got, want = library.get(array), lies.filled(getattr(problem, name), everything)
        if not _same(got, want).all():
            raise Miswritten(name, got, want)


def written(lies: Lying, call: Call) -> Call:
    """A call as its caller sees it, who wants a cache to be changed that something is added to."""
    changed = tuple(name for name in call.changed if not (lies.writes and name in NEW))
    return replace(call, changed=changed)


def _same(got: Array, want: Array) -> Array:
    return np.asarray((got == want) | (np.isnan(got) & np.isnan(want)))
