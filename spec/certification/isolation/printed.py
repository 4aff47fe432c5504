"""What a target prints, in whatever process: each line once, with how often it came.

It is read all along, for whoever writes where nobody reads waits for ever; and no more of it is
kept than a person reads.
"""

import re
import threading
from typing import BinaryIO

LINES = 20
CHARACTERS = 2000
LONGEST = 200  # characters of one line
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Printed:
    """The first lines that were printed, by how often they were, and how many there are in all."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.count = 0
        self._room = CHARACTERS
        self._lock = threading.Lock()

    def add(self, line: str) -> None:
        """One more line, from any thread."""
        with self._lock:
            self.count += 1
            if line not in self.lines:
                if len(self.lines) == LINES or len(line) > self._room:
                    return
                self._room -= len(line)
            self.lines[line] = self.lines.get(line, 0) + 1

    def __str__(self) -> str:
        """As it is shown at the end of a run; empty where nothing was printed."""
        if not self.count:
            return ""
        told = [f"    {x} (×{n})" if n > 1 else f"    {x}" for x, n in self.lines.items()]
        rest = self.count - sum(self.lines.values())
        more = [f"    and {counted(rest, 'other ')}"] * bool(rest)
        return "\n".join(["the target printed:", *told, *more]) + "\n"

    @property
    def note(self) -> str:
        """As a certificate says it."""
        return f"prints: {counted(self.count)}"


class Reader:
    """Reads what one process prints, to its end. last: the last line that says something."""

    def __init__(self, stream: BinaryIO, printed: Printed) -> None:
        self.last = ""
        self._stream, self._printed = stream, printed
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all is read; not for those who inherited the stream and hold it open."""
        self._thread.join(timeout=1.0)

    def _read(self) -> None:
        begins = True
        with self._stream:
            while piece := self._stream.readline(LONGEST):
                line = _shown(piece)
                if begins and line:
                    self.last = line
                    self._printed.add(line)
                begins = piece.endswith(b"\n")


def counted(lines: int, which: str = "") -> str:
    """So many lines, in words."""
    return f"{lines} {which}line{'s' * (lines != 1)}"


def _shown(piece: bytes) -> str:
    """What a terminal would show of a line in the end."""
    text = COLOURS.sub("", piece.decode(errors="replace")).rstrip()
    return "".join(x for x in text.rpartition("\r")[2] if x.isprintable()).strip()
