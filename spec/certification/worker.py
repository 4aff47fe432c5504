"""The process in which a target lives: it answers requests of its parent, one line each.

    in    the request; then [number, dtype, grade] for each clause to run
    out   {"survey": ...} or {"unsuitable": ...}; then for each clause {"verdict": ...},
          again with its counterexample where it is violated, and {"done": true}

Whatever the target prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from spec.backends import Unsuitable
from spec.certification.examining import Examiner, explained
from spec.certification.loading import resolved
from spec.certification.settings import Request
from spec.certification.verdicts import verdict_to_json


def main() -> None:
    """Serve the parent until it closes its end."""
    asked, told = _private_channels()
    request = Request.from_json(json.loads(asked.readline()))
    try:
        clauses = resolved(request.specification)
        examiner = Examiner.of(request.target, request, clauses)
        _tell(told, {"survey": examiner.survey().to_json()})
    except Unsuitable as reason:
        _tell(told, {"unsuitable": str(reason)})
        return
    for line in asked:
        number, dtype, grade = json.loads(line)
        verdict, problem = examiner.verdict(number, dtype, grade)
        _tell(told, {"verdict": verdict_to_json(verdict)})
        if problem is not None:
            verdict = explained(examiner, verdict, problem)
            _tell(told, {"verdict": verdict_to_json(verdict)})
        _tell(told, {"done": True})


def _private_channels() -> tuple[TextIO, TextIO]:
    """The parent's two pipes, kept from the target, which gets no input and prints to stderr."""
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # lest it be lost
    return asked, told


def _tell(told: TextIO, message: Mapping[str, Any]) -> None:
    told.write(json.dumps(message, allow_nan=False) + "\n")
    told.flush()


if __name__ == "__main__":
    main()
