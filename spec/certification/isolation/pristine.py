"""A target in the state that it had before its first call, however often it is called.

The process is forked before the first call, and each call is made in a fork of that fork, which
then ends. So a call never sees what the target remembers of another one.
"""

import contextlib
import os
import pickle
from collections.abc import Callable
from typing import Any

from spec.certification.target.ward import end_with_parent


class Pristine:
    """A function as it was when this object was made, in a process of its own.

    Arguments and results go through pipes, pickled. The process ends with this one.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        reads, asks = os.pipe()
        hears, tells = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(asks)
            os.close(hears)
            _serve(function, reads, tells)
        os.close(reads)
        os.close(tells)
        self._asks, self._hears = os.fdopen(asks, "wb"), os.fdopen(hears, "rb")

    def __call__(self, put: Any) -> Any:
        """The function's result; None if it raises an exception or its process dies."""
        try:
            pickle.dump(put, self._asks)
            self._asks.flush()
            return pickle.load(self._hears)
        except (OSError, EOFError):
            return None


def _serve(function: Callable[[Any], Any], reads: int, tells: int) -> None:
    """Answer each request in a fork, until there are no more."""
    with contextlib.suppress(BaseException):
        end_with_parent()
        asked = os.fdopen(reads, "rb")
        while True:
            put = pickle.load(asked)
            copy = os.fork()
            if not copy:
                _answer(function, put, tells)
            _, status = os.waitpid(copy, 0)
            if status:
                os.write(tells, pickle.dumps(None))
    os._exit(0)


def _answer(function: Callable[[Any], Any], put: Any, tells: int) -> None:
    """Write one answer and end; a process that ends otherwise has written nothing."""
    with contextlib.suppress(BaseException):
        end_with_parent()
        answer = pickle.dumps(function(put))
        with os.fdopen(tells, "wb") as told:
            told.write(answer)
        os._exit(0)
    os._exit(1)
