"""What a process was asked last, for whoever finds it dead or silent.

Before each call it is written down in memory that parent and children share, each in a place of
its own, over what was asked before: to tell it through a pipe would take several times as long.
"""

import mmap
from typing import IO, Any

from spec.kinds import kind_of
from spec.subject import posed
from spec.written import in_a_line

SIZE = 512  # bytes, of which few are used
PLACES = 1024  # more children than are at work at the same time


class Asked:
    """The memory, which is a file that a parent shares with its children."""

    def __init__(self, file: IO[bytes]) -> None:
        file.truncate(SIZE * PLACES)
        self._shared = mmap.mmap(file.fileno(), SIZE * PLACES)
        self.fileno, self.close = file.fileno, file.close

    def note(self, place: int, about: str, function: str, asked: Any) -> None:
        """Write down that a function of a record is about to be called."""
        kind = kind_of(about)
        called = "the output of" if function == kind.first else f"{kind.worded(function)} of"
        text = f"{called} {in_a_line(posed(asked)[0])}".encode()[: SIZE - 1] + b"\0"
        start = place % PLACES * SIZE
        self._shared[start : start + len(text)] = text

    def last(self, place: int) -> str:
        """What was written there; nothing where nothing was."""
        start = place % PLACES * SIZE
        text, _, _ = self._shared[start : start + SIZE].partition(b"\0")
        return text.decode(errors="replace")
