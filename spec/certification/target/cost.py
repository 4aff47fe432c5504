"""What a target that compiles a program for each shape will cost, said before it does."""

from __future__ import annotations

from typing import NamedTuple


class Cost(NamedTuple):
    """What judging compiles, as far as it was planned.

    formats: dtypes that are tested. programs: of all of them; one: of the dtype with the most.
    seconds: of one program, 0 if nobody has timed one.
    """

    formats: int
    programs: float
    one: float
    seconds: float

    def __str__(self) -> str:
        """Programs and time, and what a single dtype takes."""
        words = f"compiles about {self._told(self.programs)}"
        if self.formats == 1:
            return words
        alone = self._told(self.one).replace(" programs", "")
        return f"{words} for {self.formats} dtypes (for one, as with --dtype float32: {alone})"

    def _told(self, programs: float) -> str:
        time = f", {_duration(programs * self.seconds)}" * (self.seconds > 0)
        return f"{programs:.0f} programs{time}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
