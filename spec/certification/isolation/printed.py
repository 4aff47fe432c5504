"""The output of a target in all processes: each line once, and how often it was printed.

Output is read all the time, as a process that writes to a full pipe waits for ever. Only the part
that a person reads is kept.
"""

import os
import re
import threading
from collections.abc import Mapping
from typing import IO

LINES = 20
CHARACTERS = 2000
LONGEST = 200  # of one line
CHUNK = 2**16
COMMANDS = ("::", "##")  # to services that run tests and read their output, behind spaces as well
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Printed:
    """The first lines that were printed, with their counts, and the number of all lines."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.count = 0
        self._room = CHARACTERS
        self._lock = threading.Lock()

    def taken(self) -> Mapping[str, int]:
        """Return the counts of lines since the last call, then of all others, and clear them."""
        with self._lock:
            rest = self.count - sum(self.lines.values())
            told = {**self.lines, **({"": rest} if rest else {})}
            self.lines, self.count, self._room = {}, 0, CHARACTERS
        return told

    def add(self, line: str, times: int = 1) -> None:
        """Add one line, from any thread; an empty line is only counted."""
        with self._lock:
            self.count += times
            if not line:
                return
            if line not in self.lines:
                if len(self.lines) == LINES or len(line) > self._room:
                    return
                self._room -= len(line)
            self.lines[line] = self.lines.get(line, 0) + times

    def __str__(self) -> str:
        """The text at the end of a run; empty if nothing was printed."""
        if not self.count:
            return ""
        told = [f"    {x} (×{n})" if n > 1 else f"    {x}" for x, n in self.lines.items()]
        rest = self.count - sum(self.lines.values())
        more = [f"    and {counted(rest, 'other ')}"] * bool(rest)
        return "\n".join(["the target printed:", *told, *more]) + "\n"

    @property
    def note(self) -> str:
        """The note in a certificate."""
        return f"prints: {counted(self.count)}"


class Reader:
    """Reads the output of one process to its end. last: the last line that is not empty."""

    def __init__(self, stream: IO[str], printed: Printed) -> None:
        self.last = ""
        self._printed = printed
        self._pipe = os.dup(stream.fileno())  # which no lock is held for when all is over
        stream.close()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all is read, but not for processes that inherited the pipe."""
        self._thread.join(timeout=1.0)

    def _read(self) -> None:
        rest = b""
        while data := os.read(self._pipe, CHUNK):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._add(line)
            rest = rest[rest.rfind(b"\r", 0, -1) + 1 :][:LONGEST]
        self._add(rest)
        os.close(self._pipe)

    def _add(self, line: bytes) -> None:
        """Add the text that a terminal would show for a line."""
        text = COLOURS.sub("", line.decode(errors="replace")).rstrip().rpartition("\r")[2]
        shown = "".join(x for x in text[:LONGEST] if x.isprintable()).strip()
        if shown.startswith(COMMANDS):
            shown = f"\\{shown}"
        if shown:
            self.last = shown
            self._printed.add(shown)


def counted(lines: int, which: str = "") -> str:
    """The number of lines, in words."""
    return f"{lines} {which}line{'s' * (lines != 1)}"
