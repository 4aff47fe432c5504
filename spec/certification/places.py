"""Where a target is that is judged clause by clause in this process: here, or in a runner.

One that is named by a string is in a runner, if its request allows that: it shares no process with
the tests, so it can neither end them nor change what they see.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from spec.backends.elsewhere import home, leave, settle
from spec.boundary.connection import Ending
from spec.boundary.messages import Ended, Interfered
from spec.boundary.runners import isolated
from spec.certification.offered import COMPILING
from spec.certification.settings import Request
from spec.certification.target.loading import Target, imported
from spec.certification.target.ward import signal_of

HERE = "none: the target shares the process of its judge"


class Broken(AssertionError):
    """The runner of a target ended, or sent what no runner sends."""


@dataclass(frozen=True)
class Place:
    """A target, and the runners that it is in. home: None if it is in this process."""

    target: Target
    home: Any = None

    @classmethod
    def of(cls, target: Target, request: Request) -> Place:
        """The place of a target. Raises Unsuitable; Broken."""
        if not (isinstance(target, str) and request.apart):
            return cls(target)
        with cls(target).judging():
            patience = COMPILING * request.thoroughness.patience  # as any call may compile
            return cls(imported(request, Ending(ended, patience)), home())

    @property
    def isolation(self) -> str:
        """The line `isolation` of a report."""
        return HERE if self.home is None else isolated()

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Judge the target where it is, and leave it afterwards. Raises Broken."""
        settle(self.home)
        try:
            yield
        except (Ended, Interfered) as what:
            if self.home is not None:  # the next call starts another runner
                self.home.end()
            raise Broken(f"the target {what}") from None
        finally:
            leave()


def ended(code: int) -> NoReturn:
    """Report that a runner ended with an exit code; a negative one is that of a signal."""
    if code < 0:
        raise Ended(f"had its process ended by {signal_of(code)}")
    raise Ended(f"ended its process with exit code {code}")
