"""The process in which a target lives: it answers requests of its parent, one line each.

    in    the request; once the target is loaded, the crashes known so far, what probing found, if
          it is to judge, and whether it will be asked for gradients; then [number, dtype, grade]
          for each clause
    out   {"loaded": whether it takes orders to copy itself, rather than more lines};
          {"probing": ...} before each probe; {"unsuitable": ...} where there is no subject;
          {"survey": ..., "probed": ...} from a process that is not to judge, at its end; else
          for each clause {"verdict": ...}, again with its counterexample where it is violated,
          {"note": ...} for what else was seen, and {"done": true};
          {"answering": true} once in a while, as long as it does

Whatever the target prints goes to standard error.
"""

import gc
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TextIO

from spec.backends import Unsuitable, inferred, prepared
from spec.backends.compiled import forget_programs
from spec.certification.isolation.copying import as_copies, can_be_copied
from spec.certification.isolation.guard import Crash, Guard, Probe
from spec.certification.judging.examiner import Examiner, with_counterexample
from spec.certification.judging.verdict import verdict_to_json
from spec.certification.settings import Request
from spec.certification.target.loading import resolved

SECOND = 1.0
CALLS = 30  # between two times that programs are forgotten


class Pulse:
    """Called before each call of the target: says once a second that it answered the last one."""

    def __init__(self, told: TextIO) -> None:
        self.told = told
        self.calls, self.since = 0, time.monotonic()

    def __call__(self) -> None:
        self.calls += 1
        if time.monotonic() - self.since > SECOND:
            _tell(self.told, {"answering": True})
            self.since = time.monotonic()
        if self.calls % CALLS == 0:
            forget_programs()


def main() -> None:
    """Serve the parent until it closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whom a person interrupts is the parent
    asked, told = _private_channels()
    request = Request.from_json(json.loads(asked.readline()))
    gc.disable()  # to import makes no garbage
    try:
        target = resolved(request.target)
        orders = socket.socket(fileno=int(sys.argv[1])) if len(sys.argv) > 1 else None
        prepared(request.backend or inferred(target)[0])
        copied = orders is not None and request.device == "cpu" and can_be_copied()
        _tell(told, {"loaded": copied})
        if orders is not None and copied:
            asked, told = as_copies(orders)
        gc.enable()
        wanted = json.loads(asked.readline())
        crashes = [Crash(Probe.from_json(c["probe"]), c["fate"]) for c in wanted["crashes"]]
        guard = Guard(lambda probe: _tell(told, {"probing": asdict(probe)}), Pulse(told), crashes)
        known = wanted["probed"]
        examiner = Examiner.of(target, request, guard=guard.over, survey=known)
    except Unsuitable as reason:
        _tell(told, {"unsuitable": str(reason)})
        return
    if known is None:
        survey = examiner.survey().to_json()
        _tell(told, {"survey": survey, "probed": examiner.probed.to_json()})
        return
    examiner.inference = not wanted["gradients"]
    guard.lifted = True
    examiner.raw = guard.spared(examiner.raw)
    _tell(told, {"answering": True})
    _judge(examiner, asked, told)


def _judge(examiner: Examiner, asked: TextIO, told: TextIO) -> None:
    """Run what is asked for, until nothing more is."""
    for line in asked:
        number, dtype, grade = json.loads(line)
        verdict, problem = examiner.verdict(number, dtype, grade)
        _tell(told, {"verdict": verdict_to_json(verdict)})
        if problem is not None:
            verdict = with_counterexample(examiner, verdict, problem)
            _tell(told, {"verdict": verdict_to_json(verdict)})
        for note in examiner.witness.changed(f"while {number} was run", dtype):
            _tell(told, {"note": note})
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
