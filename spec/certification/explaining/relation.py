"""A failure as a relation of several results, if none of them is wrong by itself.

The clause is run once more with arrays that know how they were computed (`derived`). So the
compared values can be written down, after the calls. Calls that differ only in a seed are a loop
(`looping`). For a claim about chance, that is a count.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol

import numpy as np

from spec.backends.library import Library, Unsuitable
from spec.backends.texts import CLOSE, PRINT
from spec.certification.explaining.again import Caller
from spec.certification.explaining.derived import Derived, leaves, named, written
from spec.certification.explaining.looping import as_loops
from spec.certification.explaining.parts import Part, part_of, parts, said
from spec.certification.explaining.tape import Tape
from spec.certification.explaining.writer import PAGE
from spec.comparison import Violation
from spec.notation import Array
from spec.written import NUMBERS, literal

HELD = {
    "": CLOSE,
    "at most ": "(got <= want + within).all()",
    "at least ": "(got >= want - within).all()",
}
NAME = re.compile(r"outs\[(\d+)\]")
Seeing = Callable[[str, Callable[..., Any]], Callable[..., Any]]


class Put(Protocol):
    """Runs the clause on a recorded target, whose record may be wrapped."""

    def __call__(self, tape: Tape, seeing: Seeing | None = None) -> Violation | None: ...


@dataclass
class Answers:
    """The results that a clause got: arrays with the names outs[0], outs[1] and so on.

    found: the position of the call that returned each, and the part of its result. unused: those
    that get no name.
    """

    library: Library
    tape: Tape
    found: list[tuple[int, Part]] = field(default_factory=list)
    unused: list[tuple[int, Part]] = field(default_factory=list)

    def seeing(self, _: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a record, whose results know their names."""

        def asked(*given: Any) -> Any:
            since = len(self.tape.calls)
            return self._named(function(*given), since)

        return asked

    def _named(self, x: Any, since: int) -> Any:
        if type(x) is tuple:
            return tuple(self._named(each, since) for each in x)
        if isinstance(x, Mapping):
            return {name: self._named(each, since) for name, each in x.items()}
        if is_dataclass(x) and not isinstance(x, type):
            each = {y.name: self._named(getattr(x, y.name), since) for y in fields(x)}
            return replace(x, **each)
        if not isinstance(x, np.ndarray):
            return x
        self.found.append(self._returned(x, since))
        return named(x, f"outs[{len(self.found) - 1}]")

    def without_others(self, used: set[int], lines: list[str]) -> list[str]:
        """The lines, with new names after unused results lost theirs; no lines may be a list."""
        if any(" for i in " in line for line in lines):
            return lines
        self.unused = [x for i, x in enumerate(self.found) if i not in used]
        left = [i for i in range(len(self.found)) if i in used]
        return [NAME.sub(lambda x: f"outs[{left.index(int(x[1]))}]", line) for line in lines]

    def _returned(self, x: Array, since: int) -> tuple[int, Part]:
        for place, call in enumerate(self.tape.calls[since:], since):
            for part, y in parts(self.library, call.answer):
                numbers = self.library.get(y) if (place, part) not in self.found else None
                if numbers is not None and np.array_equal(numbers, x, equal_nan=True):
                    return place, part
        raise Unsuitable("what is compared is nothing that a call returned")


def related(library: Library, caller: Caller, put: Put) -> list[str]:
    """The lines of a script with all calls, and the relation that the clause computes."""
    tape = Tape()
    answers = Answers(library, tape)
    violation = put(tape, answers.seeing)
    if violation is None or not violation.compared:
        return []
    got, want, within = violation.compared
    if not isinstance(got, Derived):
        return []
    tape.joined(library.alike)
    used = {_number(text) for text in leaves(got, want)}
    answers.found = answers.found[: 1 + max(used, default=-1)]
    ends = answers.without_others(used, written(got=got, want=want))
    ends.append(f"within = {literal(np.asarray(within))}")
    held = HELD[violation.relation]
    if answers.unused:  # the calls that return these may do something to the others
        fewer = replace(answers, found=[x for x in answers.found if x not in answers.unused])
        answers = answers if _holds(fewer, caller, [*ends, f"held = {held}"]) else fewer
    if _holds(answers, caller, [*ends, f"held = {held}"]):
        return []
    told = PRINT.replace("want ", f"want {violation.relation}")
    lines = [*caller.imports(), *_calls(answers, caller), *ends, told]
    lines.append(f"raise SystemExit(not {held})")
    return lines if len(lines) <= PAGE else []


def _number(text: str) -> int:
    """The number of the result with this name; -1 for another text."""
    found = NAME.fullmatch(text)
    return int(found[1]) if found else -1


def _needed(answers: Answers) -> list[int]:
    """The positions of the calls that lead to all results."""
    found = {x for place, _ in answers.found for x in next(answers.tape.leading(place))}
    return sorted(found)


def _calls(answers: Answers, caller: Caller) -> list[str]:
    """The lines of all calls, with names for their results."""
    calls, needed, done = answers.tape.calls, _needed(answers), -1
    writer, blocks = caller.writer(), list[list[str]]()
    first = writer.first([calls[x] for x in needed])
    for place, found in groupby(answers.found, key=itemgetter(0)):
        every = [part for each, part in found if (each, part) not in answers.unused]
        used, block = Counter(writer.used), [x for x in needed if done < x <= place]
        name = "out" if len(every) > 1 else ""
        *lines, call = [y for x in block for y in writer.call(x, calls[x], name * (x == place))]
        if name or not every:
            lines.append(call)
        outs = [said(writer.objects[place] if name else call, part) for part in every]
        numbers = map(NUMBERS[caller.library.name].format, outs)
        lines += [f"outs.append({x})" for x in numbers]
        blocks.append([*lines, *writer.spoiling(calls[place])])
        done = place
        later = {calls[x].whose for x in needed if x > done}
        writer.forget([x for x in block if x in later], used)
    return [*first, "outs = []", *as_loops(blocks, "seed")]


def _holds(answers: Answers, caller: Caller, lines: list[str]) -> bool:
    """Whether the end of a script passes when all calls are made again."""
    needed = _needed(answers)
    again = caller.one_by_one(answers.tape, needed)
    made = {x: answer for x, (answer, _) in zip(needed, again, strict=True)}
    named = (x for x in answers.found if x not in answers.unused)
    outs = [part_of(made[place], part) for place, part in named]
    known: dict[str, Any] = {"np": np, "outs": [caller.library.get(x) for x in outs]}
    exec("\n".join(lines), known)
    return bool(known["held"])
