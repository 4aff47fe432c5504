"""How far a certification is: one line that changes on a terminal, elsewhere one now and then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TextIO

from spec.certification.judging.verdict import Verdict

CLEAR = "\r\x1b[K"
FIRST = "loading and probing"  # what is done first
QUIET = 6.0  # seconds without a line, where there is no terminal, before the first verdict
EVERY = 10.0  # seconds between two lines where there is no terminal


class Progress:
    """Writes to a stream how far a run is; every: seconds between two lines of a file."""

    def __init__(self, stream: TextIO, every: float) -> None:
        self.stream, self.every, self.live = stream, every, stream.isatty()
        self.violated, self.said, self.began = 0, time.monotonic(), time.monotonic()
        self.judges = False  # there is a verdict, or the cost of them

    def report(self, verdict: Verdict, done: int, total: int) -> None:
        """Another verdict."""
        self.judges = True
        self.violated += verdict.outcome == "violated"
        if self.live or time.monotonic() - self.said >= self.every:
            self.said = time.monotonic()
            words = f"{done:>4}/{total} {verdict.clause} {verdict.dtype}"
            words += f", {self.violated} violated" * bool(self.violated)
            self.write(f"{CLEAR}{words}" if self.live else f"{words}\n")

    def step(self, words: str) -> None:
        """What goes on before the first verdict; in a file, where nothing was written for long."""
        if self.judges:
            return
        if self.live:
            self.write(f"{CLEAR}{words} ...")
        elif time.monotonic() - self.said >= min(QUIET, self.every):
            self.announce(f"{words} ...")

    def announce(self, words: str) -> None:
        """A line that stays."""
        self.said = time.monotonic()
        self.write(f"{CLEAR * self.live}{words}\n")

    def hint(self, words: str) -> None:
        """A line that stays, and that nobody needs where the run is about to end."""
        if time.monotonic() - self.began >= self.every:
            self.announce(words)

    def write(self, text: str) -> None:
        """Something that is seen at once."""
        self.stream.write(text)
        self.stream.flush()


@contextmanager
def progress(stream: TextIO, every: float = EVERY) -> Iterator[Progress]:
    """What to tell of a run. A terminal's line is gone at the end."""
    shown = Progress(stream, every)
    if shown.live:
        shown.write(f"{FIRST} ...")
    waiting = Timer(QUIET, shown.step, (FIRST,))
    waiting.daemon = True
    waiting.start()
    try:
        yield shown
    finally:
        waiting.cancel()
        if shown.live:
            shown.write(CLEAR)
