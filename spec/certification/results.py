"""The results of targets in the forms that CI reads: a JUnit file, annotations, a summary."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.files import written
from spec.certification.ledger.github import annotations, summary
from spec.certification.ledger.junit import junit
from spec.printable import printable

SUMMARY = "GITHUB_STEP_SUMMARY"  # the variable that names the file of a step's summary


@dataclass
class Results:
    """The results so far, by the name of the target.

    file: where to write the JUnit file, or None. github: whether to print its annotations.
    """

    file: str | None = None
    github: bool = False
    found: dict[str, Certificate | Unsuitable] = field(default_factory=dict)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Note the reason if there is no certificate, and raise it again: Unsuitable."""
        try:
            yield
        except Unsuitable as reason:
            self.found[name] = reason
            raise

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write and print all results at the end, also after an error. Raises Unsuitable."""
        try:
            yield
        finally:
            try:
                self._write()
            finally:
                self._annotate()

    def _annotate(self) -> None:
        for name, result in self.found.items() if self.github else ():
            print(*annotations(printable(name), result), sep="\n")

    def _write(self) -> None:
        if not self.found:
            return
        try:
            if self.file is not None:
                path = self.file
                written(Path(path), junit(self.found))
            if self.github and (path := os.environ.get(SUMMARY, "")):
                with open(path, "a", encoding="utf-8") as file:
                    file.write(f"{summary(self.found)}\n")
        except OSError as error:
            raise Unsuitable(f"{path} cannot be written: {error.strerror}") from None
