"""Where an implementation gets its random numbers, and how to start it at a seed.

Whatever an implementation does, the caller's global sources are afterwards as they were
before. This module loads torch only for an implementation in torch.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from spec.backends.library import Library

GENERATORS = ("rng", "generator")
SEEDS = ("seed", "dropout_seed")
LARGEST = 2**32  # of the seeds of NumPy's global source, one more

Extra = Callable[[], Mapping[str, Any]]  # the arguments that the next call is given


@contextmanager
def started(library: Library, parameter: str | None, seed: int) -> Iterator[Extra]:
    """The library's source at `seed`, for calls in a row; `parameter` is how they are told.

    A generator runs on from call to call, and so does a global source. A call that is told a
    seed is told the next one each time, as that is all that its caller can do.
    """
    with _global_source(library, seed):
        if parameter in SEEDS:
            seeds = count(seed)
            yield lambda: {parameter: next(seeds)}
        elif parameter is not None:
            generator = _generator(library, seed)
            yield lambda: {parameter: generator}
        else:
            yield lambda: {}


def _generator(library: Library, seed: int) -> Any:
    if library.name == "torch":
        import torch

        return torch.Generator(library.device).manual_seed(seed)
    return np.random.default_rng(seed)


@contextmanager
def _global_source(library: Library, seed: int) -> Iterator[None]:
    """The global source of the library at `seed`, and as it was again in the end."""
    if library.name == "torch":
        import torch

        on_cpu = library.device == "cpu"
        with torch.random.fork_rng(devices=[] if on_cpu else None):
            # Without CUDA, torch.manual_seed would note down for it where it was called from.
            (torch.default_generator.manual_seed if on_cpu else torch.manual_seed)(seed)
            yield
        return
    before = np.random.get_state()
    np.random.seed(seed % LARGEST)
    try:
        yield
    finally:
        np.random.set_state(before)
