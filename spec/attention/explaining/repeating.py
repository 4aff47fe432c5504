"""How to make a call go wrong again: with nothing, some calls before it, or many tries.

Before each trial a problem of another shape is put, so that what the implementation
keeps from the last calls is not taken for its answer to this one.
"""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spec.attention.explaining.calls import Asked, answered
from spec.attention.explaining.expected import departure
from spec.attention.plug.trials import core
from spec.attention.record import Implementation
from spec.subject import not_offered

TRIALS = 3  # what happens so often in a row is taken for a rule
TRIES = 100  # what never happens in so many is not waited for
SECONDS = 2.0  # nor is it longer than this


@dataclass(frozen=True)
class Course:
    """A call that departs from the definition, and how to get there.

    name: of the array that is wrong. before: the calls that have to come first.
    tries: how often it may have to be made.
    """

    asked: Asked
    name: str
    before: tuple[Asked, ...] = ()
    tries: int = 1


def way_there(
    raw: Implementation, chosen: Mapping[str, str], calls: Sequence[Asked]
) -> Course | None:
    """How to make one of the calls depart, the smallest that does; None if none will."""
    trials = Trials(raw, chosen, time.monotonic() + SECONDS)
    places = sorted(range(len(calls)), key=lambda place: calls[place].size)
    departed = [i for i in places if departure(calls[i], chosen)]
    alone = ((asked, ()) for i in departed for asked in (calls[i].tidy, calls[i]))
    after_those_before = ((calls[i], tuple(calls[:i])) for i in departed)
    # The clause did not make these, but whoever was asked before it may have made them.
    after_others = ((calls[i], _decoys(raw, calls[i])) for i in places if not trials.late)
    for asked, before in itertools.chain(alone, after_those_before, after_others):
        if name := trials.departs(asked, before):
            return Course(asked, name, _fewest(trials, asked, before))
    return _at_times(trials, calls)


@dataclass(frozen=True)
class Trials:
    """Calls made again, of an implementation under its conventions, until it is late."""

    raw: Implementation
    chosen: Mapping[str, str]
    deadline: float

    @property
    def late(self) -> bool:
        """Whether no more ought to be tried."""
        return time.monotonic() > self.deadline

    def departs(self, asked: Asked, before: Sequence[Asked] = ()) -> str:
        """The deviation that occurs every time in the same way, after some other calls; or none."""
        answers = [self.after(before, asked) for _ in range(TRIALS)]
        name = departure(answers[0], self.chosen)
        return name if all(same(answer, answers[0]) for answer in answers) else ""

    def after(self, before: Sequence[Asked], asked: Asked) -> Asked:
        """A call, made after the others."""
        answered(self.raw.forward, core(asked.problem.dtype, N=asked.problem.N + 1))
        for earlier in before:
            earlier.again(self.raw)
        return asked.again(self.raw)


def same(one: Asked, other: Asked) -> bool:
    """Whether two answers are the same, to the bit."""
    if one.arrays.keys() != other.arrays.keys():
        return False
    pairs = ((x, other.arrays[name]) for name, x in one.arrays.items())
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def _at_times(trials: Trials, calls: Sequence[Asked]) -> Course | None:
    for asked in itertools.islice(itertools.cycle(calls), TRIES):
        if trials.late:
            break
        if name := departure(asked.again(trials.raw), trials.chosen):
            return Course(asked, name, tries=TRIES)
    return None


def _decoys(raw: Implementation, asked: Asked) -> tuple[Asked, ...]:
    """Calls with other numbers of the same shapes, so that what is kept of them shows."""
    p = asked.problem
    ramp = np.arange(p.M)[:, None]
    other = p.but(q=1 - p.q, k=ramp - p.k, v=ramp + 1 - p.v, memory="contiguous")
    decoys = [Asked("forward", other, (), None)]
    if raw.backward is not not_offered:
        decoys.append(Asked("backward", other, ("q", "k", "v"), None))
    return tuple(decoys)


def _fewest(trials: Trials, asked: Asked, before: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """The calls that have to go before, once those that need not are left out."""
    for earlier in before:
        fewer = tuple(other for other in before if other is not earlier)
        if trials.departs(asked, fewer):
            before = fewer
    return before
