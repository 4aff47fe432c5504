"""The tests that `pytest --implementation TARGET` collects: one for each clause and dtype."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spec.backends import Unsuitable
from spec.certification.as_tests import Run, runs
from spec.certification.target.source import defined


class Clauses(pytest.Collector):
    """The clauses that bind a target."""

    def __init__(self, *, request: Any, **options: Any) -> None:
        super().__init__(**options)
        self.request = request

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each of them and each dtype. Raises CollectError for an invalid target."""
        try:
            found = runs(**vars(self.request))
        except Unsuitable as reason:
            raise self.CollectError(str(reason)) from None
        place = defined(self.request.target) or (self.config.rootpath, 1)
        yield from (Clause.from_parent(self, name=run.id, run=run, place=place) for run in found)


class Clause(pytest.Item):
    """One clause in one dtype. It fails in a line, where the target is, and its report follows.

    A `should` clause that fails, and a declared deviation, are expected failures: they are reported
    as `xfail`, as a certificate reports them, and do not fail the run.
    """

    def __init__(self, *, run: Run, place: tuple[Path, int], **options: Any) -> None:
        super().__init__(**options)
        self.run, self.place = run, place

    def runtest(self) -> None:
        """Raises AssertionError where the clause is broken, and is to hold."""
        self.run(_message)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the target begins, if that is known; pytest counts lines from 0."""
        path, line = self.place
        return path, line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The failure in words; the full report of pytest for an exception that is no verdict."""
        if not isinstance(excinfo.value, AssertionError):
            return super().repr_failure(excinfo, style)
        shown = excinfo.getrepr(style="value")
        if (crash := shown.reprcrash) is not None:
            crash.path, crash.lineno = str(self.place[0]), self.place[1]
            crash.message = _message(str(excinfo.value))
        return shown


def _message(told: str) -> str:
    """The first line, less the clause, which the name of the test has."""
    clause, _colon, message = told.partition("\n")[0].partition(": ")
    return message or clause
