"""What a target that compiles a program for each shape will cost, said before it does."""

from __future__ import annotations

from typing import NamedTuple


class Cost(NamedTuple):
    """What testing costs that compiles, as far as it was planned.

    formats: dtypes that are tested. programs: of all of them; one: of the dtype with the most.
    seconds: of all that is done with one program, 0 if nobody has timed one.
    """

    formats: int
    programs: float
    one: float
    seconds: float

    def __str__(self) -> str:
        """Programs and time, and what a single dtype takes."""
        words = f"compiles about {self.programs:.0f} programs"
        words += f" for {self.formats} dtypes" * (self.formats > 1)
        words += f"; testing takes about {self._time(self.programs)}" * (self.seconds > 0)
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
