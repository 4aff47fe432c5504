"""The causes of the clauses that failed as tests, and a line for each of these tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from spec.certification.in_process import judged_here
from spec.certification.ledger.causes import causes, counterexamples
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.junit import why
from spec.certification.ledger.remarks import first, violated
from spec.certification.places import Broken

if TYPE_CHECKING:
    from spec.certification.as_tests import Run

CHOICE = r"--convention ([\w-]+)=([\w+-]+)"
DECLARED = re.compile(rf"{CHOICE}(?:\s+{CHOICE})*")  # one or more, perhaps in two lines


def explained(failed: Mapping[str, Run], in_python: bool = True) -> tuple[str, dict[str, str]]:
    """The causes of failing tests for each target; then a line for each test.

    failed: by the names of the tests. in_python: whether conventions are declared in Python, and
    not on the command line.
    """
    by_target: dict[int, dict[str, Run]] = {}
    for name, run in failed.items():
        by_target.setdefault(id(run.examiner), {})[name] = run
    parts, tests = list[str](), dict[str, str]()
    for runs_of_it in by_target.values():
        try:
            found = _judged([*runs_of_it.values()])
        except Broken as reason:
            examiner = next(iter(runs_of_it.values())).examiner
            said = f"no causes are known, as {reason}; for causes: {examiner.request.command()}"
            parts.append(f"{examiner.raw.name}: {said}")
            continue
        parts.append("\n".join(_said(found, [*runs_of_it.values()])))
        verdicts = {(v.clause, v.dtype): v for v in found.verdicts if v.outcome == "violated"}
        for name, run in runs_of_it.items():
            if verdict := verdicts.get((run.number, run.dtype)):
                tests[name] = why(verdict, found)
    written = (lambda text: DECLARED.sub(_in_python, text)) if in_python else str
    told = {name: written(line) for name, line in tests.items()}
    return written("\n\n".join(parts)), told


def _in_python(found: re.Match[str]) -> str:
    """Options of the command line as an argument in Python."""
    inside = ", ".join(f'"{name}": "{choice}"' for name, choice in re.findall(CHOICE, found[0]))
    return f"conventions={{{inside}}}"


def _judged(failed: Sequence[Run]) -> Certificate:
    """The certificate of one target's failing clauses, which are tested again, with causes."""
    examiner, numbers = failed[0].examiner, tuple(dict.fromkeys(run.number for run in failed))
    dtypes = tuple(dict.fromkeys(run.dtype for run in failed))
    asked = replace(examiner.request, clauses=numbers, dtypes=dtypes, fail_fast=False)
    place = failed[0].place
    with place.judging():
        return judged_here(place.target, asked)


def _said(found: Certificate, failed: Sequence[Run]) -> Iterator[str]:
    """Yield the lines about one target: its causes, and the smallest example of each."""
    count = len(found.causes)
    yield f"{found.name}: {count or 'no'} cause{'s' * (count != 1)} found{_counted(failed)}"
    yield from (part for part in (first(found), *causes(found)) if part)
    if found.causes:
        yield from counterexamples(found)
    else:
        yield from violated(found, "-v prints all failures")


def _counted(failed: Sequence[Run]) -> str:
    """Why more tests fail than a certificate counts clauses; "" if there are as many."""
    clauses = len({run.number for run in failed})
    if len(failed) == clauses:
        return ""
    words = f"{clauses} clause{'s' * (clauses != 1)}"
    return f"; {len(failed)} tests fail, of {words}: a clause is a test in each format"
