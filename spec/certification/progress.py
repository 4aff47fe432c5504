"""The progress of a run: a bar on a terminal, by `rich`; elsewhere a line now and then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TextIO

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.findings import blocks
from spec.certification.terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

FIRST = "loading and probing"  # the first step
QUIET = 6.0  # seconds without a line, where there is no terminal, before the first verdict
EVERY = 10.0  # seconds between two lines where there is no terminal
MOMENT = 0.05  # seconds between two pictures of a bar


class Progress:
    """Shows the progress of a run on a stream; every: seconds between two lines of a file."""

    def __init__(self, stream: TextIO, every: float, bar: "Bar | None" = None) -> None:
        """bar: the bar of a terminal, with one task."""
        self.stream, self.every, self.bar = stream, every, bar
        self.failed, self.said, self.began = 0, time.monotonic(), time.monotonic()
        self.judges = False  # there is a verdict, or the cost of them
        self.hinted = ""  # the line that waits until the run has taken a while

    def report(self, verdict: Verdict, done: int, total: int) -> None:
        """Show that there is another verdict."""
        self.judges = True
        self.failed += blocks(verdict)
        if self.hinted:
            self.hint(self.hinted)
        soon = time.monotonic() - self.said < (MOMENT if self.bar else self.every)
        if soon and not (self.bar and done == total):
            return
        self.said = time.monotonic()
        words = f"{done:>4}/{total} {verdict.clause} {verdict.dtype}"
        words += f", {self.failed} failed" * bool(self.failed)
        if self.bar:
            words += "; looking for causes ..." * (done == total and self.failed > 0)
            self.draw(words, done, total)
        else:
            self.write(words)

    def step(self, words: str) -> None:
        """Show the present step before the first verdict; in a file, only after a long silence."""
        if self.judges:
            return
        if self.bar:
            self.draw(f"{words} ...")
        elif time.monotonic() - self.said >= min(QUIET, self.every):
            self.announce(f"{words} ...")

    def announce(self, words: str) -> None:
        """Print a line that stays."""
        self.said = time.monotonic()
        if self.bar:
            self.bar.console.print(words, soft_wrap=True)
        else:
            self.write(words)

    def hint(self, words: str) -> None:
        """Print a line that stays; of a run that has only begun, once it has taken a while."""
        self.hinted = words
        if time.monotonic() - self.began >= self.every:
            self.announce(words)
            self.hinted = ""

    def draw(self, words: str, done: int = 0, total: int | None = None) -> None:
        """Draw the bar."""
        assert self.bar is not None
        task = self.bar.task_ids[0]
        self.bar.update(task, description=words, completed=done, total=total, refresh=True)

    def write(self, words: str) -> None:
        """Write a line without delay."""
        self.stream.write(f"{words}\n")
        self.stream.flush()


@contextmanager
def progress(stream: TextIO, every: float = EVERY) -> Iterator[Progress]:
    """Return the progress of a run. A bar is removed at the end."""
    if stream.isatty():
        with _bar(stream) as bar:
            yield Progress(stream, every, bar)
        return
    shown = Progress(stream, every)
    waiting = Timer(QUIET, shown.step, (FIRST,))
    waiting.daemon = True
    waiting.start()
    try:
        yield shown
    finally:
        waiting.cancel()


def _bar(stream: TextIO) -> "Bar":
    """Return a bar with the first step. No thread draws it: processes are forked beside it."""
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        console=console(stream),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.add_task(f"{FIRST} ...", total=None)
    return bar
