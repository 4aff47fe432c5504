"""Certification from outside: targets live in child processes that may crash or hang.

The parent hands out one clause at a time and waits. A child that dies or falls
silent leaves the verdict `crashed` on the clause it was given, and a new child goes
on with the rest: after every crash if the request says `isolate`, else a few times.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from spec.backends import Unsuitable
from spec.certification.examining import Survey, versions
from spec.certification.settings import Request, selected
from spec.certification.verdicts import Verdict, unrun, verdict_from_json
from spec.clause import Clause
from spec.notation import CONVENTIONS, DTYPES, GRADES

PATIENT = 3  # crashes after which the rest is blocked, unless the request says `isolate`
Item = tuple[str, str]
Report = Callable[[Verdict, int, int], None]
Messages = queue.Queue[tuple["Child", Mapping[str, Any] | None]]


class Child:
    """A worker process, and what it was given to do."""

    def __init__(self, request: Request, messages: Messages) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "HYPOTHESIS_STORAGE_DIRECTORY": os.devnull,  # nothing is to be written there
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "spec.certification.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        self.item: Item | None = None
        self.since = time.monotonic()
        self.surveyed = False
        self.hung = False
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()
        self.tell(request.to_json())

    def tell(self, message: Any) -> None:
        """Write one line to the child; one that is gone is noticed by its silence."""
        assert self.process.stdin is not None
        self.since = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def end(self) -> None:
        """Stop the process, whatever it is doing, and let go of its pipes."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    def fate(self) -> str:
        """How the process ended, in words."""
        if self.hung:
            return f"no answer after {time.monotonic() - self.since:.0f} s"
        code = self.process.wait()
        if code < 0:
            return f"the process died of {signal.Signals(-code).name}"
        return f"the process ended with exit code {code}"

    def _listen(self, messages: Messages) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as told:
            for line in told:
                messages.put((self, json.loads(line)))
        messages.put((self, None))


class Supervisor:
    """Hands out the items of a survey to children, and collects the verdicts."""

    def __init__(self, request: Request, clauses: Mapping[str, Clause], report: Report) -> None:
        self.request, self.report = request, report
        self.clauses = {c.number: c for c in selected(clauses, request.clauses)}
        self.messages: Messages = queue.Queue()
        self.children: list[Child] = []
        self.survey: Survey | None = None
        self.verdicts: dict[Item, Verdict] = {}
        self.waiting: deque[Item] = deque()
        self.crashes = 0
        self.stopped = ""
        self.grades: dict[str, str] = {}
        self.start = time.monotonic()

    def run(self) -> tuple[Survey, list[Verdict]]:
        """The survey, and a verdict for each of its items. Raises Unsuitable."""
        try:
            self._spawn()
            while self.children:
                self._step()
        finally:
            for child in self.children:
                child.end()
        survey = self.survey or self._nothing_known()
        for item in survey.items:
            if item not in self.verdicts:
                reason = self.stopped or "the run was stopped"
                self.verdicts[item] = self._unrun(item, "blocked", reason)
        return survey, [self.verdicts[item] for item in survey.items]

    def _step(self) -> None:
        """Wait for one message, or for the time when something is overdue."""
        try:
            child, message = self.messages.get(timeout=self._until_overdue())
        except queue.Empty:
            self._overdue()
            return
        if child not in self.children:
            return
        if message is None:
            self._gone(child)
        elif "unsuitable" in message:
            raise Unsuitable(message["unsuitable"])
        elif "survey" in message:
            self._surveyed(child, Survey.from_json(message["survey"]))
        elif "verdict" in message:
            self._note(verdict_from_json(message["verdict"]))
        else:
            child.item = None
            self._hand_out(child)

    def _spawn(self) -> None:
        self.children.append(Child(self.request, self.messages))

    def _surveyed(self, child: Child, survey: Survey) -> None:
        child.surveyed = True
        if self.survey is None:
            self.survey = survey
            self.waiting.extend(survey.items)
            for _ in range(min(self.request.jobs, len(survey.items)) - 1):
                self._spawn()
        self._hand_out(child)

    def _hand_out(self, child: Child) -> None:
        """Give the child its next item, or let it go."""
        if self.stopped or not self.waiting:
            self.children.remove(child)
            child.end()
            return
        child.item = self.waiting.popleft()
        number, dtype = child.item
        child.tell([number, dtype, self.grades.get(dtype, "strict")])

    def _note(self, verdict: Verdict) -> None:
        item = (verdict.clause, verdict.dtype)
        known = item in self.verdicts
        self.verdicts[item] = verdict
        known_grade = self.grades.get(verdict.dtype, "strict")
        names = [str(grade) for grade in GRADES]
        self.grades[verdict.dtype] = max(known_grade, verdict.rounding, key=names.index)
        if not known:
            self._tell_progress(verdict)
        if verdict.outcome == "violated" and verdict.force == "must" and self.request.fail_fast:
            self.stopped = f"{verdict.clause} was violated and the run was to fail fast"

    def _gone(self, child: Child) -> None:
        """A child died: its clause crashed, unless it had its verdict already."""
        self.children.remove(child)
        child.end()
        if child.item is None and child.surveyed:
            return
        self.crashes += 1
        if child.item is not None and child.item not in self.verdicts:
            verdict = self._unrun(child.item, "crashed", child.fate())
            self.verdicts[child.item] = verdict
            self._tell_progress(verdict)
        if self.survey is None:
            self.stopped = child.fate()
        elif self.crashes >= PATIENT and not self.request.isolate:
            self.stopped = f"after {self.crashes} crashes (--isolate goes on after each)"
        elif self.waiting and not self.stopped and child.surveyed:
            self._spawn()

    def _until_overdue(self) -> float:
        """Seconds until the budget is spent or the first child counts as hanging."""
        now = time.monotonic()
        patience = self.request.thoroughness.patience
        waits = [child.since + patience - now for child in self.children]
        if self.request.budget is not None:
            waits.append(self.start + self.request.budget - now)
        return max(0.0, min(waits))

    def _overdue(self) -> None:
        now = time.monotonic()
        budget = self.request.budget
        if budget is not None and now >= self.start + budget:
            self.stopped = f"the budget of {budget:g} s was spent"
            for child in self.children:
                child.end()
            self.children.clear()
            return
        for child in list(self.children):
            if now - child.since >= self.request.thoroughness.patience:
                child.hung = True
                child.process.kill()
                self._gone(child)

    def _tell_progress(self, verdict: Verdict) -> None:
        total = len(self.survey.items) if self.survey else len(self.verdicts)
        self.report(verdict, len(self.verdicts), total)

    def _unrun(self, item: Item, outcome: Any, reason: str) -> Verdict:
        return unrun(self.clauses[item[0]], item[1], outcome, reason)

    def _nothing_known(self) -> Survey:
        """The plan where not even loading and probing came to an end: all of it."""
        dtypes = self.request.dtypes or DTYPES
        items = tuple((number, dtype) for dtype in dtypes for number in self.clauses)
        outcome = "blocked" if "budget" in self.stopped else "crashed"
        reason = f"while it was loaded and probed: {self.stopped}"
        self.verdicts[items[0]] = self._unrun(items[0], outcome, reason)
        defaults = {name: choices[0] for name, choices in CONVENTIONS.items()}
        return Survey(
            name=self.request.target,
            origin=self.request.target,
            conventions={**defaults, **self.request.conventions},
            deviations={},
            order=tuple(self.clauses),
            items=items,
            settled=(),
            refusals=(),
            notes=(),
            advice=(),
            versions=versions(),
        )
