"""The cost of testing a target that compiles a program for each shape, estimated beforehand."""

from __future__ import annotations

from typing import NamedTuple

CAUSES = "with a search for causes, which compiles more, up to three times as long"


class Cost(NamedTuple):
    """The cost of testing a target that compiles, as planned.

    formats: the number of dtypes. programs: of all of them; one: of the dtype with the most.
    seconds: for one program and all that is done with it, 0 if none was timed.
    """

    formats: int
    programs: float
    one: float
    seconds: float

    def __str__(self) -> str:
        """Programs and time, and the same for a single dtype."""
        count = f"{self.programs:.0f}"
        words = f"testing compiles about {count} program{'s' * (count != '1')}"
        words += f" for {self.formats} dtypes" * (self.formats > 1)
        if self.seconds > 0:
            words += f" and takes about {self._time(self.programs)}; {CAUSES}"
        if self.formats == 1:
            return words
        alone = f"{self.one:.0f}" + f", {self._time(self.one)}" * (self.seconds > 0)
        return f"{words} (for one, as with --dtype float32: {alone})"

    def _time(self, programs: float) -> str:
        return _duration(programs * self.seconds)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
