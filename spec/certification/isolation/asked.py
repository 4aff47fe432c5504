"""The last call that a process made of the target, so that its parent can report it.

Before each call, the process writes a description of it into memory that parent and children share.
Each child has a slot of its own there, and overwrites its last entry. A pipe would take several
times as long.
"""

import mmap
from typing import IO, Any

from spec.kinds import kind_of
from spec.subject import posed
from spec.written import in_a_line

SIZE = 512  # bytes, of which few are used
PLACES = 1024  # more children than are at work at the same time


class Asked:
    """The shared memory: a file that a parent shares with its children."""

    def __init__(self, file: IO[bytes]) -> None:
        file.truncate(SIZE * PLACES)
        self._shared = mmap.mmap(file.fileno(), SIZE * PLACES)
        self.fileno, self.close = file.fileno, file.close

    def note(self, place: int, about: str, function: str, asked: Any) -> None:
        """Write down that a function of a record is about to be called."""
        functions = kind_of(about).functions
        called = "the output" if function == functions.first else functions.worded(function)
        text = f"{called} of {in_a_line(posed(asked)[0])}".encode()[: SIZE - 1] + b"\0"
        start = place % PLACES * SIZE
        self._shared[start : start + len(text)] = text

    def last(self, place: int) -> str:
        """The last entry of a slot; empty if there is none."""
        start = place % PLACES * SIZE
        text, _, _ = self._shared[start : start + SIZE].partition(b"\0")
        return text.decode(errors="replace")
