"""A failure as plain calls of the target, without this specification.

The target is plugged in again, by a wrapper that records its calls (`tape`). The script makes the
call that is wrong by itself (`search`), if there is one: of those that the clause compares with the
definition, or of those that it compares with each other, the one that departs from the definition.
Else it makes all calls, and of their answers what the clause makes (`relation`). It needs to know
nothing of the kind but which clauses compare an answer with the definition.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from spec.backends.calling import library_of
from spec.backends.elsewhere import home
from spec.backends.results import refusing
from spec.certification.explaining.again import Caller
from spec.certification.explaining.dying import fatal
from spec.certification.explaining.relation import Seeing, related
from spec.certification.explaining.search import at_times, searched
from spec.certification.explaining.tape import Tape
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.certification.target.required import required
from spec.clause import Clause
from spec.comparison import Violation
from spec.kinds import kind_of
from spec.subject import Subject, named
from spec.trial import asked, broken
from spec.written import arrays, values

AFTER = "# An earlier call changes the result, so this comes first."
AT_TIMES = "# The result changes from call to call."
THIS_ONE = "# The clause compares several calls; this is the one that is wrong."


@dataclass(frozen=True)
class Posing:
    """Runs a clause on a target that is plugged in again, its calls recorded.

    before: a problem that it gets first, if any: then the script makes all calls.
    """

    raw: Subject
    request: Request
    target: Any
    caller: Caller
    before: Any

    def put(
        self, clause: Clause, problem: Any, tape: Tape, seeing: Seeing | None = None
    ) -> Violation | None:
        """How the problem breaks the clause, if it does."""
        self.forget()
        with tape:
            record = self.record(tape)
            if self.before is not None:
                tape.since = len(tape.calls)
                broken(clause, record, self.before)
            return broken(clause, record.through(seeing) if seeing else record, problem)

    def record(self, tape: Tape) -> Subject:
        """The target through its lenses and under its conventions, with a record of its calls."""
        record = load(tape.of(self.caller.as_run(self.target)), self.request, tried=False)
        kind = kind_of(self.raw.about)
        for words in self.raw.lenses:
            record = kind.causes.lenses[words](record)
        return kind.conventions.under(record, {**self.raw.chosen, **self.request.conventions})

    def forget(self) -> None:
        """Ask for something else, so that an answer is nothing that the target kept."""
        kind, clauses = kind_of(self.raw.about), required(self.request)
        with suppress(Exception):
            broken(clauses[kind.definition], self.record(Tape()), kind.core(self.caller.dtype))

    def by_definition(self, clause: Clause, problem: Any) -> tuple[bool, list[tuple[Clause, Any]]]:
        """Whether a clause makes several calls, and what compares each with the definition.

        Small problems are first.
        """
        tape = Tape()
        with tape:
            made = asked(clause, self.record(tape), problem)
        clauses = required(self.request)
        compares = kind_of(self.raw.about).functions.compares
        made = sorted(made, key=lambda call: sum(x.size for x in arrays(call[1]).values()))
        pairs = ((number, put) for name, put, _ in made for number in compares.get(name, ()))
        found = {(number, id(put)): (clauses.get(number), put) for number, put in pairs}
        found.pop((clause.number, id(problem)), None)
        return len(made) > 1, [(known, put) for known, put in found.values() if known is not None]


def plain(
    clause: Clause,
    raw: Subject,
    request: Request,
    problem: Any,
    before: Any = None,
    kills: bool = False,
) -> list[str]:
    """The lines of a script with plain calls; empty if none is found.

    raw: a record of the target, with its place of import. before: a problem that it gets first, if
    any: then the script makes all calls. kills: the call ends its process.
    """
    there = home()
    target = named(raw.origin) if there is None else there.root
    if not callable(target) or (raw.compiled and isinstance(target, type)):
        return []  # nobody but its compiler sees what a compiled object is asked
    called: dict[str, Any] = {
        "kind": raw.about,
        "target": raw.origin,
        "compiled": None,
        **raw.called,
    }
    settled = replace(request, **called)
    library = library_of(target, settled.backend, request.device)
    caller = Caller(library, raw.origin, raw.compiled, problem.dtype)
    posing = Posing(raw, settled, target, caller, before)
    caller = replace(caller, forget=posing.forget)
    with library.quiet(problem.dtype), refusing():
        for way, told, how, *posed in _ways(posing, clause, problem, kills):
            # A stranger's program may be called as it was not meant to be.
            with suppress(Exception):
                put = partial(how.put, *posed)
                if lines := way(library, replace(caller, told=told), put):
                    return lines
    return []


def _ways(posing: Posing, clause: Clause, problem: Any, kills: bool) -> Iterator[Sequence[Any]]:
    """Yield ways to show a failure, the clearest first: each with a comment and what is posed."""
    own = clause, problem
    if kills:
        yield fatal, "", posing, *own
        return
    several, alone = False, list[tuple[Clause, Any]]()
    with suppress(Exception):
        several, alone = posing.by_definition(clause, problem)
    ways = [(searched, THIS_ONE if several else "", posing, *pair) for pair in alone]
    ways.insert(len(ways) if several else 0, (searched, "", posing, *own))
    yield from ways
    yield related, "", posing, *own
    for pair in alone if posing.before is None else ():
        yield searched, AFTER, replace(posing, before=_others(pair[1])), *pair
    for pair in (*alone, own):
        yield at_times, AT_TIMES, posing, *pair


def _others(problem: Any) -> Any:
    """The problem with other numbers, of which a target may have kept something."""
    found = ((name, x) for name, x in values(problem) if isinstance(x, np.ndarray))
    floats = ((name, x) for name, x in found if x.dtype.kind == "f" and np.isfinite(x).all())
    return problem.but(**{name: 1 - x for name, x in floats})
