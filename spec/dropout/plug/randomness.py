"""How an implementation gets its random numbers, which start at a seed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from spec.backends import sources
from spec.backends.library import Library

GENERATORS = ("rng", "generator")
SEEDS = ("seed", "dropout_seed")

Extra = Callable[[], Mapping[str, Any]]  # the arguments that the next call is given


@contextmanager
def started(library: Library, parameter: str | None, seed: int) -> Iterator[Extra]:
    """The library's source at `seed`, for calls in a row; `parameter` passes them.

    A generator runs on from call to call, and so does a global source. A call with a
    seed gets the next one each time, as that is all that its caller can do.
    """
    with sources.own(library, seed):
        if parameter is None:
            yield lambda: {}
            return
        sources.taken()  # by nobody: what is told a source of its own needs no other
        seeds, generator = count(seed), sources.generator(library, seed)
        yield lambda: {parameter: next(seeds) if parameter in SEEDS else generator}
