"""The work of compilers of functions, in this process or where the target is."""

from collections.abc import Mapping
from typing import Any

from spec.backends.elsewhere import home
from spec.runner import compiled

COMPILER = "torch.compile"


def counts() -> Mapping[str, Any]:
    """The work of a compiler so far, by the names of the functions below."""
    there = home()
    return compiled.counts() if there is None else there.counts()


def programs() -> int:
    """How many programs were compiled so far."""
    return int(counts()["programs"])


def of_jax() -> int:
    """How many of JAX, which has one for each shape, with those taken from where they were kept."""
    return int(counts()["of_jax"])


def none() -> bool:
    """Whether no program was compiled so far, nor taken from where it was kept."""
    return not counts()["any"]


def not_compiled() -> tuple[str, ...]:
    """Why the compiler gave up on a function, in its words, so far."""
    return tuple(counts()["not_compiled"])
