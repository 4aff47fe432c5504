"""A failure as a script of about a dozen lines that needs the implementation and its library.

A clause may relate several calls, but nearly always one of them is wrong by itself: then
the script makes that one and holds the very numbers that the definition says, and what
they are allowed to differ. It does not import this specification. Where no such call is
found, it says so and runs the clause. It exits with 1 as long as the failure is there.
"""

from __future__ import annotations

import numpy as np

from spec.certification.recording import recorded
from spec.certification.settings import Request
from spec.certification.showing import shown
from spec.certification.source import Source, literal
from spec.clause import Clause
from spec.implementation import Implementation
from spec.notation import Problem


def script(
    clause: Clause, raw: Implementation, request: Request, problem: Problem, message: str
) -> str:
    """The text of the script; empty where the implementation cannot be imported by name.

    raw: what is judged, in its own conventions, with what was left of it to judge.
    """
    if ":" not in raw.origin or "<" in raw.origin:
        return ""
    said = message.replace("\\", "\\\\").replace('"', "'")
    head = f'"""{clause.id} in {problem.dtype}: {clause.sentence}\n\n{said}\n"""\n\n'
    source = Source.of(raw)
    if source is not None:
        record = recorded(clause, raw, request.conventions, problem)
        body = shown(source, {**raw.chosen, **request.conventions}, record)
        if body:
            return head + "\n".join([*source.imports(problem.dtype), *body, ""])
    return head + _by_clause(clause, raw, request, problem)


def _by_clause(clause: Clause, raw: Implementation, request: Request, problem: Problem) -> str:
    """A script that runs the clause itself."""
    fields = [
        f"    {name}={literal(x) if isinstance(x, np.ndarray) else repr(x)},"
        for name, x in ((n, getattr(problem, n)) for n in problem.__dataclass_fields__)
    ]
    arguments = ", ".join([repr(clause.number), repr(raw.origin), "problem", *_asked(request)])
    lines = [
        "# No plain call of it shows this, so the clause itself is run.",
        "import numpy as np",
        "from spec.certification import rerun",
        "from spec.notation import Problem",
        "",
        "problem = Problem(",
        *fields,
        ")",
        f"raise SystemExit(rerun({arguments}))",
    ]
    return "\n".join(lines) + "\n"


def _asked(request: Request) -> list[str]:
    """The options of a request that change how the implementation is called."""
    defaults: dict[str, object] = {
        "backend": None,
        "layout": "bhld",
        "device": "cpu",
        "conventions": {},
        "specification": "spec:CLAUSES",
    }
    asked = {name: getattr(request, name) for name in defaults}
    return [f"{n}={value!r}" for n, value in asked.items() if value != defaults[n]]
