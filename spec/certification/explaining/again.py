"""A target that is called once more, as a script calls it: in fact, and as source text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spec.backends.compiling import compiled
from spec.backends.library import Library
from spec.certification.explaining.tape import Tape
from spec.certification.explaining.writer import Writer
from spec.certification.target.loading import resolved
from spec.subject import named
from spec.written import IMPORTS, imported


@dataclass(frozen=True)
class Caller:
    """What is imported from somewhere. compiled: in which way, if it is."""

    library: Library
    origin: str
    compiled: str

    def as_run(self, target: Any) -> Any:
        """What is called, and written down, which is what is inside where that is compiled."""
        return compiled(target, self.library, self.compiled) if self.compiled else target

    def written(self, tape: Tape, needed: list[int]) -> tuple[list[str], str, Mapping[str, str]]:
        """The lines up to the last of some calls, that call, and what its arguments are called."""
        writer = Writer(self.library, self.origin.rpartition(":")[2], self.compiled)
        *lines, call = [line for x in needed for line in writer.call(x, tape.calls[x])]
        imports = imported(self.origin, IMPORTS[self.library.name])
        return [*imports, *lines], call, writer.names

    def again(self, tape: Tape, needed: list[int]) -> tuple[Any, Mapping[str, Any]]:
        """What the last of some calls returns of a target that was asked nothing else.

        And what became of what it was given. As far as that can be had: who was imported by
        name knows all that it was asked.
        """
        is_file = ".py:" in self.origin
        found = (resolved if is_file else named)(self.origin)
        made: dict[int | None, Any] = {None: self.as_run(found)}
        given: Mapping[str, Any] = {}
        for place in needed:
            made[place], given = tape.calls[place].of(made[tape.calls[place].whose])
        return made[needed[-1]], given
