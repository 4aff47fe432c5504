"""How far a certification is: one line that changes on a terminal, elsewhere one now and then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from spec.certification.isolation.workbench import Report
from spec.certification.judging.verdict import Verdict

CLEAR = "\r\x1b[K"
EVERY = 10.0  # seconds between two lines where there is no terminal


@contextmanager
def progress(stream: TextIO, every: float = EVERY) -> Iterator[Report]:
    """A function to call after each verdict. A terminal's line is gone at the end."""
    live, violated, said = stream.isatty(), 0, time.monotonic()
    before, after = (CLEAR, "") if live else ("", "\n")

    def report(verdict: Verdict, done: int, total: int) -> None:
        nonlocal violated, said
        violated += verdict.outcome == "violated"
        if live or time.monotonic() - said >= every:
            said = time.monotonic()
            words = f"{done:>4}/{total} {verdict.clause} {verdict.dtype}"
            stream.write(f"{before}{words}{f', {violated} violated' if violated else ''}{after}")
            stream.flush()

    if live:
        stream.write("loading and probing ...")
        stream.flush()
    try:
        yield report
    finally:
        if live:
            stream.write(CLEAR)
            stream.flush()
