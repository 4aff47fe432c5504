"""Where the target of this process is, if it is in another one: who can be asked about it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from spec.runner.compiled import light

LIGHTLY = "quick: JAX compiles with few optimisations; --profile standard tests usual programs"


class Home(Protocol):
    """The process that a target is in, as its judge asks it."""

    @property
    def source(self) -> str:
        """The file of the target and its first line."""

    @property
    def root(self) -> Any:
        """The target, as it is seen here."""

    def fresh(self) -> Any:
        """The target in a new process, in which nobody has called it yet."""

    def counts(self) -> Mapping[str, Any]:
        """The counts of what was compiled there (`spec.runner.compiled`)."""

    def loaded(self) -> Mapping[str, Any]:
        """The array libraries and files that are loaded there, the target's packages, the GPU."""

    @property
    def zygote(self) -> Any:
        """The process whose copies call the target; `lightly`: copies to come optimise little."""

    def end(self) -> None:
        """End the process that the target is in; the next question starts another one."""

    @property
    def chance(self) -> int:
        """A number that nobody knows, the same in all processes that judge the target."""

    def late(self) -> bool:
        """Whether the target wrote into an array after its call: True once at most."""

    def early(self, library: str) -> None:
        """Start such a program for arrays of a library, before this process is copied."""

    def program(self) -> AbstractContextManager[Any]:
        """A program of its own that calls the target."""

    def asking(self, program: Any) -> AbstractContextManager[None]:
        """Have a program of its own answer the calls."""


_there: list[Home] = []


def settle(home: Home | None) -> None:
    """From now on the target of this process is there; None: it is here."""
    _there[:] = [] if home is None else [home]


def leave() -> None:
    """From now on the target of this process is here again."""
    settle(None)


def home() -> Home | None:
    """Where the target is; None: it is here, or there is none."""
    return _there[0] if _there else None


def compile_lightly(lightly: bool) -> None:
    """Have JAX optimise little, or as usual; in a new process, if the target's has compiled.

    To compile lightly takes a third of the time. It is done while a target is probed and causes are
    sought, and in all of the quick profile.
    """
    there = home()
    if there is not None and there.zygote.lightly != lightly:
        there.zygote.lightly = lightly
        if there.counts()["of_jax"]:
            there.end()


def compiled_lightly() -> str:
    """A note that JAX compiled programs of the target with few optimisations; "" if it did not."""
    there = home()
    made = there is not None and there.zygote.lightly and there.counts()["of_jax"]
    return LIGHTLY if made and light() else ""
