"""Work shared between a process and a fork of it, if it can be forked and has two cores."""

import contextlib
import os
import pickle
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

from spec.certification.isolation.copying import can_be_copied
from spec.certification.target.ward import end_with_parent

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_two(
    function: Callable[[Item], Result], items: Sequence[Item], seconds: float = 0.0
) -> Generator[Result, None, None]:
    """Yield the results of a function, in order; a fork computes every second one.

    If the fork ends early, for any reason, this process continues alone. It works alone from the
    start if it cannot be forked, or has one core. seconds: the most that the fork may take for one
    of them; 0 for no limit.
    """
    if len(items) < 2 or not can_be_copied() or len(os.sched_getaffinity(0)) < 2:
        yield from map(function, items)
        return
    reads, writes = os.pipe()
    copy = os.fork()
    if not copy:
        os.close(reads)
        _serve(function, items[1::2], writes, seconds)
    os.close(writes)
    try:
        with os.fdopen(reads, "rb") as told:
            for place, item in enumerate(items):
                known = [*_heard(told)] if place % 2 else []
                yield known[0] if known else function(item)
    finally:
        os.kill(copy, signal.SIGKILL)  # until it is waited for, its number is nobody else's
        os.waitpid(copy, 0)


def _serve(
    function: Callable[[Item], Any], items: Sequence[Item], writes: int, seconds: float
) -> None:
    """Write the results and end; an exception is left for the other process to meet again."""
    with contextlib.suppress(BaseException):
        end_with_parent()
        with os.fdopen(writes, "wb") as tells:
            for item in items:
                signal.setitimer(signal.ITIMER_REAL, seconds)  # whose signal ends this process
                pickle.dump(function(item), tells)
                tells.flush()
    os._exit(0)


def _heard(told: Any) -> Iterator[Any]:
    """Yield the next result, if there is one."""
    with contextlib.suppress(EOFError, pickle.UnpicklingError):
        yield pickle.load(told)
