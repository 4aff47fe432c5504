"""The expected writes into a cache: new keys after the last ones, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spec.attention.notation import Problem
from spec.attention.plug.layouts import Lying
from spec.attention.plug.paging import NEW, Paging
from spec.backends.library import Library
from spec.backends.results import Miswritten, same
from spec.notation import Call

UNWRITTEN = ("jax",)  # libraries that write into no array: whoever adds something has a new one


def kept(library: Library, lies: Lying, problem: Problem, arrays: Sequence[Any]) -> None:
    """Raises Miswritten: a cache that q, k and v were read from does not hold what it should."""
    if not isinstance(lies, Paging) or not lies.writes or library.name in UNWRITTEN:
        return
    everything = np.ones_like(lies.new)
    for name, array in zip(NEW, arrays[-2:], strict=True):
        got, want = library.get(array), lies.filled(getattr(problem, name), everything)
        if not same(got, want).all():
            raise Miswritten(f"the cache of {name}", got, want)


def written(lies: Lying, call: Call) -> Call:
    """A call as its caller sees it, who wants a cache to be changed that something is added to."""
    changed = tuple(name for name in call.changed if not (lies.writes and name in NEW))
    return replace(call, changed=changed)
