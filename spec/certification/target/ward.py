"""A target that is called in forks of this process, one for each call, as it may kill them.

The death of a fork is a failure that breaks a clause, as a wrong result does. So causes of crashes,
and of calls that never return, are found like others. This process itself never calls the target,
and stays as it is.
"""

import ctypes
import os
import pickle
import signal
import time
from collections.abc import Callable
from typing import Any, NoReturn

from spec.backends.library import first_line
from spec.comparison import Violation
from spec.subject import Over, Refused

LEAST = 2.0  # seconds that a call has, whatever others took
TIMES = 20.0  # as long as the longest that came to its end
NEVER = "the call never returns"
HANGS = 5  # times the patience that is lost with calls that never end, all of them together
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl


class Died(Violation):
    """A call ended only with its process."""


class Ward:
    """Calls in forks, and their time limits.

    patience: seconds after which a call hangs in any case. longest: the longest call that returned.
    left: seconds for calls that hang; after that nothing is called.
    """

    def __init__(self, patience: float) -> None:
        self.patience, self.longest, self.left = patience, 0.0, HANGS * patience

    def over(self, implementation: Any) -> Any:
        """The same implementation, each of its calls in a process of its own."""

        def apart(_: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def ask(problem: Any, *rest: Any) -> Any:
                return self.answer(lambda: function(problem, *rest))

            return ask

        return implementation.through(apart)

    def answer(self, call: Callable[[], Any]) -> Any:
        """The result of a call, or its exception. Raises Died if the call ends its process."""
        if self.left <= 0:
            raise Refused("others took all the time")
        start = time.monotonic()
        seconds = min(self.patience, max(LEAST, TIMES * self.longest))
        try:
            answer, error = alone(call, seconds)
        except Died as death:
            self.left -= seconds if str(death) == NEVER else 0.0
            raise
        self.longest = max(self.longest, time.monotonic() - start)
        if error is not None:
            raise error
        return answer


def alone(call: Callable[[], Any], seconds: float = LEAST) -> tuple[Any, Exception | None]:
    """The result of a call in a fork, or its exception. Raises Died.

    seconds: after these the call counts as endless.
    """
    reads, writes = os.pipe()
    copy = os.fork()
    if not copy:
        os.close(reads)
        _tell(call, writes, seconds)
    os.close(writes)
    with os.fdopen(reads, "rb") as told:
        said = told.read()
    _, status = os.waitpid(copy, 0)
    if not said:
        raise Died(_fate(os.waitstatus_to_exitcode(status)))
    answer: tuple[Any, Exception | None] = pickle.loads(said)
    return answer


def end_with_parent() -> None:
    """Have this process killed as soon as its parent is gone."""
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)


def signal_of(code: int) -> str:
    """The signal that a process died of, by its exit code: not each has a name."""
    names = {int(x): x.name for x in signal.Signals}
    return names.get(-code, f"signal {-code}")


def _fate(code: int) -> str:
    """How a call fails whose process ended with an exit code; it begins with a verb."""
    if code == -signal.SIGALRM:
        return NEVER
    if code < 0:
        return f"the process dies of {signal_of(code)}"
    return f"the process ends with exit code {code}"


def _tell(call: Callable[[], Any], writes: int, seconds: float) -> NoReturn:
    """Make a call, write its result, and end; a process that ends otherwise writes nothing."""
    end_with_parent()
    nothing = os.open(os.devnull, os.O_WRONLY)
    for prints in (1, 2):  # what it prints was told when it was judged
        os.dup2(nothing, prints)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    made: tuple[Any, BaseException | None]
    try:
        made = (call(), None)
    except Exception as error:
        made = (None, error)
    except Over:
        os._exit(1)
    except BaseException as error:
        made = (None, Refused(f"{type(error).__name__}: {first_line(error)}"))
    with os.fdopen(writes, "wb") as told:
        told.write(_pickled(made))
    os._exit(0)


def _pickled(made: tuple[Any, BaseException | None]) -> bytes:
    """A result, or an exception, as bytes; one that cannot be pickled is refused."""
    try:
        return pickle.dumps(made)
    except Exception as error:
        return pickle.dumps((None, Refused(f"{type(error).__name__}: {first_line(error)}")))
