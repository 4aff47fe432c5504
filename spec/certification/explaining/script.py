"""A failure as a script of about a dozen lines that needs the implementation and its library.

A clause may relate several calls, but nearly always one of them is wrong by itself: then
the script makes that one and holds the very numbers that the definition says, and what
they are allowed to differ. Else it makes all of them, and of their answers what the clause
makes. It does not import this specification; where that cannot be written down, it says so
and runs the clause. It exits with 1 as long as the failure is there.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spec.certification.explaining.plain import plain
from spec.certification.offered import HOW, in_group
from spec.certification.settings import Request
from spec.certification.starting import NAME
from spec.clause import Clause
from spec.kinds import kind_of
from spec.runner.foreign import parted
from spec.subject import Subject
from spec.written import classes, found_from, source

GOES = "# Its result changes from call to call, so the clause is run until it fails."
NEVER = "# No single call was found that shows this, so the clause itself is run."
TOLD = "# The description has the parameters and the call, so the clause itself is run."
AFTER = "# An earlier call changes the result, so the clause is run on both calls, in order."


@dataclass(frozen=True)
class Again:
    """How a failure is met again.

    before: what has to be asked first; times: that it may take; kills: a process dies of it.
    mended: its target is seen through what mends other causes, as no other call of it is.
    """

    before: Any = None
    times: int = 1
    kills: bool = False
    mended: bool = False


ONCE, MENDED = Again(), Again(mended=True)


def script(
    clause: Clause, raw: Subject, request: Request, problem: Any, message: str, again: Again = ONCE
) -> str:
    """The text of the script; empty where the implementation cannot be imported by name.

    Or where it is mended, and no call by the words of its kind shows the failure.

    raw: what is judged, in its own conventions, with what was left of it to judge.
    """
    if ":" not in raw.origin or "<" in raw.origin:
        return ""
    said = message.replace("\\", "\\\\").replace('"', "'")
    head = f'"""{clause.id} in {problem.dtype}: {clause.sentence}\n\n{said}\n"""\n\n'
    lines = None
    if again in (ONCE, MENDED):
        lines = kind_of(clause.about).reports.calls(clause, raw, request.conventions, problem)
    if again.times == 1:  # else a call that is wrong now may be right the next time
        lines = lines or plain(clause, raw, request, problem, again.before, again.kills)
    if lines:
        return head + "\n".join(lines)
    if again.mended:
        return ""
    return head + _by_clause(clause, raw, request, problem, again)


def _by_clause(clause: Clause, raw: Subject, request: Request, problem: Any, again: Again) -> str:
    """A script that runs the clause itself."""
    asked = request.asked
    words = [name for name in (*in_group(HOW), "conventions", "specification") if name in asked]
    options = [f"{name}={_anywhere(asked[name])!r}" for name in words]
    first = [] if again.before is None else source(again.before, variable="before")
    often = again.times > 1
    named = ["before=before"] * bool(first) + [f"times={again.times}"] * often
    place, _, name = raw.origin.rpartition(":")
    is_file = place.endswith(".py") or parted(raw.origin) is not None
    target = repr(f"{Path(place).resolve() if is_file else place}:{name}")
    arguments = ", ".join([repr(clause.number), target, "problem", *named, *options])
    found = dict.fromkeys([*found_from(NAME), *([] if is_file else found_from(place))])
    lines = [
        GOES if often else AFTER if first else TOLD if request.description else NEVER,
        *found,
        "import numpy as np",
        f"from {NAME}.certification import rerun",
        f"from {type(problem).__module__} import {', '.join(classes(problem))}",
        "",
        *first,
        *source(problem, variable="problem"),
        f"raise SystemExit(rerun({arguments}))",
    ]
    return "\n".join(lines) + "\n"


def _anywhere(option: Any) -> Any:
    """An option as it is written in a script that runs in any folder: a file by its whole path."""
    is_file = isinstance(option, str) and Path(option).is_file()
    return str(Path(option).resolve()) if is_file else option
