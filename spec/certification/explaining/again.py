"""A target that is called once more as a script calls it: in fact, and as source text."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spec.backends import sources
from spec.backends.compiling import compiled
from spec.backends.elsewhere import home
from spec.backends.library import Library
from spec.backends.texts import imports
from spec.certification.explaining.tape import Tape
from spec.certification.explaining.writer import Writer
from spec.certification.target.loading import resolved
from spec.subject import named

MOST = 16  # calls that lead to one
OUT = "earlier"  # what the answer of an earlier call is called, where it has a name


@dataclass(frozen=True)
class Caller:
    """The object that a script imports. compiled: how it is compiled, if it is.

    dtype: the format in which it is called. told: a comment about the calls, above them. forget:
    asks it for something else.
    """

    library: Library
    origin: str
    compiled: str
    dtype: str
    told: str = ""
    forget: Callable[[], object] = dict

    def as_run(self, target: Any) -> Any:
        """The object whose calls are recorded: the one inside if that is compiled."""
        return compiled(target, self.library, self.compiled) if self.compiled else target

    def written(
        self, tape: Tape, needed: list[int], kept: int | None = None
    ) -> tuple[list[str], str, Mapping[str, str]]:
        """The lines up to the last of some calls, that call, and the names of its arguments.

        kept: the position of a call whose result has a name.
        """
        writer, calls = self.writer(), [tape.calls[x] for x in needed]
        lines = [*self.imports(), *writer.first(calls)]
        for place, call in zip(needed, calls, strict=True):
            lines += writer.call(place, call, OUT if place == kept else "")
            lines += writer.spoiling(call) if place != needed[-1] else []
        return lines[:-1], lines[-1], {**writer.names, OUT: OUT}

    def imports(self) -> list[str]:
        """The lines that import it, and the comment."""
        lines = imports(self.origin, self.library.name, self.dtype)
        return [*lines, self.told] if self.told else lines

    def writer(self) -> Writer:
        """The writer of its calls."""
        return Writer(self.library, self.origin.rpartition(":")[2], self.compiled)

    def again(self, tape: Tape, needed: list[int]) -> tuple[Any, Mapping[str, Any]]:
        """The result of the last of some calls, made on a fresh target.

        Also the arguments after that call.
        """
        *_, last = self.one_by_one(tape, needed)
        return last

    def one_by_one(self, tape: Tape, needed: list[int]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        """Yield the result of each of some calls, and its arguments afterwards.

        The target is fresh if possible; one that was imported by name remembers earlier calls.
        """
        self.forget()
        made: dict[int | None, Any] = {None: self.as_run(self._fresh())}
        known: dict[int, Any] = {}
        with sources.kept(self.library):
            for place in needed:
                call = tape.calls[place]
                if call.seed is not None:
                    sources.start(self.library, call.seed)
                made[place], given = call.of(made[call.whose], known, self.library)
                yield made[place], given
                for name, x in call.spoiled.items():
                    given[name][...] = x

    def _fresh(self) -> Any:
        """The target, in a new process if it lives in one."""
        there = home()
        if there is not None:
            return there.fresh()
        return (resolved if ".py:" in self.origin else named)(self.origin)
