"""Sources of random numbers: a library's own, at a seed, and generators that calls are handed.

Whatever is drawn from a library's own source, it is afterwards as it was before.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from spec.backends.library import Library
from spec.runner.chance import LARGEST

_started: ContextVar[tuple[int, ...]] = ContextVar("started", default=())


@contextmanager
def own(library: Library, seed: int) -> Iterator[None]:
    """The library's own source at `seed`, and as it was again in the end."""
    with kept(library):
        start(library, seed)
        token = _started.set((seed,))
        try:
            yield
        finally:
            _started.reset(token)


def taken() -> int | None:
    """The seed at which a library's own source was started since the last call of this, if any."""
    seeds = _started.get()
    _started.set(())
    return seeds[0] if seeds else None


@contextmanager
def kept(library: Library) -> Iterator[None]:
    """The library's own source is as it was in the end."""
    before = library.chance.state()
    try:
        yield
    finally:
        library.chance.back(before)


def start(library: Library, seed: int) -> None:
    """Start the library's own source at `seed`."""
    library.chance.start(seed)


def generator(library: Library, seed: int) -> Any:
    """A generator of the library, at `seed`."""
    return library.chance.generator(seed)


def is_generator(x: Any) -> bool:
    """Whether something is a generator of random numbers, of NumPy or torch."""
    torch = sys.modules.get("torch")
    kinds = (np.random.Generator, *([torch.Generator] if torch else []))
    return isinstance(x, kinds)


def written(x: Any) -> str:
    """A generator of which nothing was drawn, as source text; empty for any other."""
    if isinstance(x, np.random.Generator):
        seed = getattr(x.bit_generator.seed_seq, "entropy", None)
        fresh = np.random.default_rng(seed).bit_generator.state == x.bit_generator.state
        return f"np.random.default_rng({seed})" if fresh else ""
    seed, place = x.initial_seed(), "" if x.device.type == "cpu" else repr(str(x.device))
    fresh = type(x)(x.device).manual_seed(seed).get_state().equal(x.get_state())
    return f"torch.Generator({place}).manual_seed({seed})" if fresh else ""


def named(x: Any) -> str:
    """The text of an object that torch prints by name, as `torch.float32`; empty for others."""
    text = str(x) if type(x).__module__ == "torch" else ""
    return text if text.startswith("torch.") else ""


def starting(library: Library, seed: int) -> str:
    """The line that starts the library's own source at `seed`."""
    if library.name == "torch":
        return f"torch.manual_seed({seed})"
    return f"np.random.seed({seed % LARGEST})"
