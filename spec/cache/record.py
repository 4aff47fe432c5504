"""A cache as a record: its functions, and what it may leave out.

A cache is a frozen record of plain functions on states. A state may be
any object. Leaving a function out declares that it is not offered. `spec.cache.plug` builds
the record of a class that somebody wrote.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from spec.attention import options
from spec.attention.conventions import OF_UNITS
from spec.cache.notation import Chunk, Problem
from spec.notation import Array, Call
from spec.subject import Subject, holding, not_offered


class Capability(StrEnum):
    """The capabilities that a clause may need of a cache beyond appending."""

    CALL = options.Capability.CALL
    GROUPS = options.Capability.GROUPS
    WIDTHS = options.Capability.WIDTHS
    WINDOW = options.Capability.WINDOW

    ROLLBACK = "has a rollback"
    FORK = "has a fork"
    FEWER = "takes fewer queries than keys in a step"
    PERSISTENT = "has persistent states"
    RAGGED = "takes sequences of different lengths"


@dataclass(frozen=True, eq=False)
class State:
    """A state of a cache: the problem that it was begun for, and whatever its owner keeps.

    given: the last array that was handed out, with the numbers it had then; for `watched`.
    """

    problem: Problem
    kept: Any
    given: Any = None


KINDS = frozenset({Capability.GROUPS, Capability.WIDTHS, Capability.WINDOW, Capability.RAGGED})


@dataclass(frozen=True)
class Cache(Subject):
    """One way to decode with a cache: plain functions of a state, and what they leave out.

    begin: the state in which nothing was read     extend: o (B, H, n, E), and the state after
    rollback: the state after the first tokens alone, so many of each sequence (B,)
    fork: a state like this one, that can go on by itself; both may still be used
    watched: extend as its caller sees it; the caller writes into its arrays afterwards
    fewer: extend, of a chunk with fewer queries than keys
    Outputs are float64 numbers (long double for float64 problems); `Violation` is raised for
    one of the wrong shape or dtype, and `Refused` where the cache would not answer.

    persistent: an earlier state may still be used after it was extended or taken back.
    Otherwise a state is used once, and only the one that came of it goes on.
    answers: the kinds of problem answered. The rest is as `spec.subject.Subject` has it.
    """

    begin: Callable[[Problem], State]
    extend: Callable[[State, Chunk], tuple[Array, State]]
    rollback: Callable[[State, Array], State] = not_offered
    fork: Callable[[State], State] = not_offered
    watched: Callable[[State, Chunk], tuple[Call, State]] = not_offered
    fewer: Callable[[State, Chunk], tuple[Array, State]] = not_offered
    persistent: bool = False
    answers: frozenset[str] = field(default=KINDS, kw_only=True)

    about: ClassVar[str] = "cache"
    offering: ClassVar[Mapping[str, str]] = {
        Capability.ROLLBACK: "rollback",
        Capability.FORK: "fork",
        Capability.CALL: "watched",
        Capability.FEWER: "fewer",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = OF_UNITS

    def kinds_of(self, problem: Problem | State) -> frozenset[str]:
        """The kinds of problem that `problem`, or that of a state, is; empty for the core."""
        if isinstance(problem, State):
            problem = problem.problem
        tests = {
            Capability.GROUPS: problem.G != problem.H,
            Capability.WIDTHS: problem.E != problem.D,
            Capability.WINDOW: problem.window is not None,
            Capability.RAGGED: not problem.even,
        }
        return holding(tests)

    @property
    def offers(self) -> frozenset[str]:
        """All that a clause may ask of it."""
        return super().offers | ({Capability.PERSISTENT} if self.persistent else set())
