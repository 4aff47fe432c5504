"""The process in which a target lives: it answers requests of its parent, one line each.

    in    the request; once the target is loaded, the crashes known so far, the results of probing
          if it is to judge, and whether it has to compute gradients; then [number, dtype, rounding
          model, whether few problems do] for each clause; or {"explain": the failing items,
          "grades": the rounding models granted, "begins": whether the first cause is all that is
          wanted, while others judge}; each of these with the word of the order, which an answer
          repeats (`protocol`)
    out   {"loaded": whether it takes orders to fork, rather than more lines};
          {"probing": ...} before each probe, empty while shapes are chosen;
          {"unsuitable": ...} if the target cannot be tested; {"survey": ..., "probed": ...} from a
          process that only probes, at its end; else for each clause {"verdict": ..., "notes": other
          observations, "after": the seconds in which the target was called for these}, and before
          that the verdict alone, if the run ends with a search for a counterexample; for causes
          {"diagnosis": ..., and in `beside` the seconds of forks that shared the work}, and before
          it {"first": the first cause};
          {"answering": true} once in a while, as long as calls return

The output of the target goes to standard error; a fork has a pipe of its own for it. Before each
call in a clause, the process writes a description of the call into shared memory (`asked`).
"""

import ctypes
import gc
import json
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TextIO

from spec import rows
from spec.abilities import Guarded
from spec.backends import Unsuitable, likely, prepared
from spec.backends.elsewhere import compile_lightly, compiled_lightly, home
from spec.backends.library import WARNINGS
from spec.boundary.messages import Interfered
from spec.certification.diagnosing.memory import Alone, nobody
from spec.certification.diagnosing.raising import Raising
from spec.certification.isolation.asked import Asked
from spec.certification.isolation.copying import as_copies, can_be_copied, printing_to
from spec.certification.isolation.guard import Crash, Guard, Probe
from spec.certification.isolation.pristine import Pristine
from spec.certification.isolation.seeking import sought
from spec.certification.isolation.sharing import in_two
from spec.certification.judging.afresh import afresh
from spec.certification.judging.cause import Cause
from spec.certification.judging.examiner import Examiner, with_counterexample
from spec.certification.judging.verdict import verdict_to_json
from spec.certification.settings import Request
from spec.certification.target.loading import imported
from spec.certification.target.ward import Ward
from spec.runner.compiled import forget_programs
from spec.runner.errors import in_a_line

SECOND = 1.0
BY_LINE = 1  # _IOLBF of stdio.h
CALLS = 30  # between two times that programs are forgotten


class Pulse:
    """Called before each call of the target: reports once a second that it still answers.

    asked, place: the memory, and the slot in it, for a description of the call. forgets: whether
    compiled programs are dropped now and then, as no shape comes again.
    """

    def __init__(self, told: TextIO, asked: Asked | None, place: int) -> None:
        self.told, self.asked, self.place = told, asked, place
        self.calls, self.since, self.forgets = 0, time.monotonic(), True

    def __call__(self, about: str, function: str, problem: Any) -> None:
        self.calls += 1
        if self.asked is not None:
            self.asked.note(self.place, about, function, problem)
        if time.monotonic() - self.since > SECOND:
            _tell(self.told, {"answering": True})
            self.since = time.monotonic()
        if self.forgets and self.calls % CALLS == 0:
            forget_programs()


def main() -> None:
    """Serve the parent until it closes the pipe."""
    for number in (signal.SIGINT, signal.SIGTERM):  # whom a person stops is the parent
        signal.signal(number, lambda *_: None)  # what a target starts hears them, and can be ended
    asked, told = _private_channels()
    line = asked.readline()
    if not line:  # nobody wants this process after all
        return
    request = Request.from_json(json.loads(line))
    notes, orders = _handles()
    try:
        target = imported(request)
        if not request.apart:
            prepared(request.backend or likely(target)[0], request.compiled is not None)
        copied = orders is not None and request.device == "cpu" and can_be_copied()
        _tell(told, {"loaded": copied})
        if orders is not None and copied:
            if (there := home()) is not None and not isinstance(target, type):
                there.early(request.backend or likely(target)[0])
            rows.ready()
            asked, told = as_copies(orders)
        gc.enable()
        wanted = json.loads(asked.readline())
        crashes = [Crash.from_json(crash) for crash in wanted["crashes"]]
        pulse = Pulse(told, notes, wanted["place"])
        judges = wanted["probed"] is not None and not wanted["explains"]
        compile_lightly(not judges or request.profile == "quick")
        dies = copied and wanted["explains"] and wanted["dies"]
        alone: Alone = nobody
        if copied and wanted["explains"] and not dies:
            alone = Pristine(lambda put: afresh(target, request, *put))
        ward = Ward(request.thoroughness.patience) if dies else None
        met = [] if dies else crashes  # where a crash is a failure like others, nothing is lost
        guard = Guard(partial(_probing, told, os.getpid()), pulse, met)
        known = None if dies else wanted["probed"]
        over = _through(guard.over, ward)
        each = partial(in_two, seconds=request.thoroughness.patience / 2)
        examiner = Examiner.of(target, request, guard=over, survey=known, each=each)
    except Unsuitable as reason:
        _tell(told, {"unsuitable": str(reason)})
        return
    except Interfered as what:
        _tell(told, {"interfered": str(what)})
        return
    try:
        if known is None and not dies:
            _survey(examiner, told, wanted["order"])
            return
        pulse.forgets = not examiner.probed.sampled
        examiner.inference = not wanted["gradients"]
        guard.lifted = True
        examiner.raw = guard.spared(examiner.raw)
        _tell(told, {"answering": True})
        _judge(examiner, asked, told, alone)
    except Interfered as what:
        _tell(told, {"interfered": str(what)})


def _probing(told: TextIO, process: int, probe: Probe) -> None:
    """Announce a probe; a copy that probes other dtypes meanwhile does not."""
    if os.getpid() == process:
        _tell(told, {"probing": asdict(probe)})


def _survey(examiner: Examiner, told: TextIO, order: str) -> None:
    """Send the survey."""
    compile_lightly(examiner.request.profile == "quick")  # the plan says how long programs take
    examiner.plan(lambda: _tell(told, {"probing": {}}), timed=True)
    survey = examiner.survey()
    survey = replace(survey, notes=(*survey.notes, *filter(None, [compiled_lightly()])))
    found = {"survey": survey.to_json(), "probed": examiner.probed.to_json()}
    cost = examiner.probed.cost
    said = {} if cost is None else {"cost": cost}
    _tell(told, {**found, **said, "order": order})


def _judge(examiner: Examiner, asked: TextIO, told: TextIO, alone: Alone) -> None:
    """Carry out orders until there are no more. alone: the target before its first call."""
    examiner.witness.lap()
    raising = Raising(examiner)
    for line in asked:
        wanted = json.loads(line)
        if "explain" in wanted:
            found = sought(examiner, wanted, alone, partial(_first, told, wanted["order"]))
            copies = os.times()  # that shared the work
            beside = copies.children_user + copies.children_system
            answer = {"diagnosis": found.to_json(), "beside": beside}
            _tell(told, {**answer, "order": wanted["order"]})
            continue
        number, dtype, *how, order = wanted
        verdict, problem = examiner.verdict(number, dtype, *how)
        if problem is not None and examiner.request.fail_fast:
            _tell(told, {"verdict": verdict_to_json(verdict), "order": order})
            verdict = with_counterexample(examiner, verdict, problem)
        verdict = raising.said(verdict)
        notes = examiner.witness.changed(f"while {number} was run", dtype)
        after = {"notes": notes, "after": examiner.witness.lap(), "order": order}
        _tell(told, {"verdict": verdict_to_json(verdict), **after})


def _first(told: TextIO, order: str, cause: Cause) -> None:
    """Send the parent the first cause, for the person who waits for all of them."""
    _tell(told, {"first": cause.to_json(), "order": order})


def _through(guarded: Guarded, ward: Ward | None) -> Guarded:
    """The guard, with calls in a process of its own if there is a ward."""
    return guarded if ward is None else lambda record: guarded(ward.over(record))


def _handles() -> tuple[Asked | None, socket.socket | None]:
    """The memory for descriptions of calls and the socket for orders to fork, if given."""
    handles = [int(word) for word in sys.argv[1:]]
    notes = Asked(open(handles[0], "r+b")) if handles else None  # noqa: SIM115
    return notes, socket.socket(fileno=handles[1]) if len(handles) > 1 else None


def _private_channels() -> tuple[TextIO, TextIO]:
    """The pipes from and to the parent, hidden from the target, whose output goes to stderr.

    The target reads no input. Its warnings are one line each.
    """
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    printing_to(2)
    with suppress(OSError, ValueError):  # C would keep what it prints, and lose it in the end
        library = ctypes.CDLL(None)
        library.setvbuf(ctypes.c_void_p.in_dll(library, "stdout"), None, BY_LINE, 0)
    WARNINGS.set("default")
    warnings.formatwarning = in_a_line
    return asked, told


def _tell(told: TextIO, message: Mapping[str, Any]) -> None:
    told.write(json.dumps(message, allow_nan=False) + "\n")
    told.flush()
