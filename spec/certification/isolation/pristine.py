"""A target as it was before it was asked anything, however much it has been asked since.

A process is copied before it asks; each question is put to a copy of that copy, which then ends.
So what a target remembers of one question is never seen in another.
"""

import contextlib
import os
import pickle
from collections.abc import Callable
from typing import Any

from spec.certification.target.ward import end_with_parent


class Pristine:
    """A function, as this process would have answered it when this was made.

    What it is given and what it answers go through pipes, as pickled. It ends with this process.
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
        """What the function answers; None where it raises an exception, or its process dies."""
        try:
            pickle.dump(put, self._asks)
            self._asks.flush()
            return pickle.load(self._hears)
        except (OSError, EOFError):
            return None


def _serve(function: Callable[[Any], Any], reads: int, tells: int) -> None:
    """Have a copy answer each question, until there are no more."""
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
    """Tell one answer, and be gone: a process that ends otherwise has told nothing."""
    with contextlib.suppress(BaseException):
        end_with_parent()
        answer = pickle.dumps(function(put))
        with os.fdopen(tells, "wb") as told:
            told.write(answer)
        os._exit(0)
    os._exit(1)
