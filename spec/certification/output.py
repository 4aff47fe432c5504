"""Standard output and error whose reader may leave, as `head` does: the exit code is kept."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO


class Output:
    """A stream that drops text that nobody reads any more, instead of BrokenPipeError.

    An exit code is a verdict: a run must end with the same one, whether or not its output is read.
    """

    def __init__(self, stream: TextIO) -> None:
        """stream: where text goes as long as somebody reads it."""
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text, and return how many characters that were."""
        try:
            return self.stream.write(text)
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        try:
            self.stream.flush()
        except BrokenPipeError:
            self._drop()

    def __getattr__(self, name: str) -> Any:
        """Return what the stream itself has: its encoding, its number, if it is a terminal."""
        return getattr(self.stream, name)

    def _drop(self) -> None:
        """Send to nowhere what the stream still holds, and all that is written later."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.stream.fileno())
        os.close(nowhere)


@contextmanager
def patient() -> Iterator[None]:
    """Print to streams whose readers may leave."""
    out, error = Output(sys.stdout), Output(sys.stderr)
    with redirect_stdout(out), redirect_stderr(error):
        try:
            yield
        finally:
            out.flush()
            error.flush()
