"""One line on a terminal that says how far a certification is; nothing elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from spec.certification.isolation.supervisor import Report
from spec.certification.judging.verdict import Verdict

CLEAR = "\r\x1b[K"


@contextmanager
def progress(stream: TextIO) -> Iterator[Report]:
    """A function to call after each verdict; the line is gone at the end."""
    if not stream.isatty():
        yield lambda *_: None
        return
    violated = 0

    def report(verdict: Verdict, done: int, total: int) -> None:
        nonlocal violated
        violated += verdict.outcome == "violated"
        words = f"{done:>4}/{total} {verdict.clause} {verdict.dtype}"
        stream.write(f"{CLEAR}{words}{f', {violated} violated' if violated else ''}")
        stream.flush()

    stream.write("loading and probing ...")
    stream.flush()
    try:
        yield report
    finally:
        stream.write(CLEAR)
        stream.flush()
