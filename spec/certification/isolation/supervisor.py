"""Certification from outside: targets live in child processes that may crash or hang.

A first child probes its target and is gone, so that nothing of what it did remains. What it
found is told to others, that judge: those that are asked for gradients, and those that are
asked for none, before or after, as in inference.

The parent hands out one clause at a time and waits. A child that dies or falls
silent leaves the verdict `crashed` on the clause it was given, and a new child goes
on with the rest: after every crash if the request says `isolate`, else a few times.
One that does so while it probes its target costs a kind of problem instead.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spec.backends import Unsuitable
from spec.certification.isolation.child import Child, Item, Messages
from spec.certification.isolation.guard import Crash, probe_from_json, with_crashes
from spec.certification.judging.grading import granted, unsettled
from spec.certification.judging.judging import differentiates
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Verdict, unrun, verdict_from_json
from spec.certification.judging.versions import versions
from spec.certification.settings import Request, concerning, selected, with_definition
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import DTYPES

PATIENT = 3  # crashes after which the rest is blocked, unless the request says `isolate`
PROBES = 10  # the same for crashes while probing, each of which costs another kind of problem
Report = Callable[[Verdict, int, int], None]


class Supervisor:
    """Hands out the items of a survey to children, and collects the verdicts."""

    def __init__(self, request: Request, clauses: Mapping[str, Clause], report: Report) -> None:
        self.request, self.report, self.clauses = request, report, clauses
        self.guess = selected(clauses, request.clauses)[0].about  # until a child knows
        self.messages: Messages = queue.Queue()
        self.children: list[Child] = []
        self.survey: Survey | None = None
        self.probed: Mapping[str, Any] | None = None
        self.notes: dict[str, None] = {}  # those of all children, each once
        self.verdicts: dict[Item, Verdict] = {}
        self.waiting: deque[Item] = deque()
        self.crashes = 0
        self.probes_lost: list[Crash] = []
        self.stopped = ""
        self.start = time.monotonic()

    def run(self) -> tuple[Survey, list[Verdict]]:
        """The survey, and a verdict for each of its items. Raises Unsuitable."""
        try:
            self._survey()
            while self.children:
                self._step()
        finally:
            for child in self.children:
                child.end()
        survey = self.survey or self._nothing_known()
        self._take_back_what_is_unsettled()
        for item in survey.items:
            if item not in self.verdicts:
                reason = self.stopped or "the run was stopped"
                self.verdicts[item] = self._unrun(item, "blocked", reason)
        noted = replace(survey, notes=(*survey.notes, *self.notes))
        return noted, [self.verdicts[item] for item in survey.items]

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
            self._unsuitable(child, message["unsuitable"])
        elif "probing" in message:
            child.probing(probe_from_json(message["probing"]))
        elif "survey" in message:
            self.probed = message["probed"]
            self.survey = with_crashes(Survey.from_json(message["survey"]), self.probes_lost)
            self.waiting.extend(self.survey.items)
            self._let_go(child)
            self._go_on()
        elif "verdict" in message:
            self._note(verdict_from_json(message["verdict"]))
        elif "answering" in message:
            child.since = time.monotonic()
        elif "note" in message:
            self.notes[message["note"]] = None
        else:
            child.item = None
            self._go_on()

    def _survey(self) -> None:
        self.children.append(Child(self.request, self.probes_lost, self.messages))

    def _let_go(self, child: Child) -> None:
        self.children.remove(child)
        child.end()

    def _unsuitable(self, child: Child, reason: str) -> None:
        """No problem is answered; where that is because of crashes, it is no refusal."""
        if not child.judges and not self.probes_lost:
            raise Unsuitable(reason)
        self.stopped = reason if child.judges else str(self.probes_lost[0])
        self._let_go(child)
        self._go_on()

    def _go_on(self) -> None:
        """Hand out items, as many at a time as the request says; let go of who gets none."""
        busy = sum(not child.idle for child in self.children)
        if not busy and not self.waiting:
            self.waiting.extend(self._take_back_what_is_unsettled())
        for _ in range(self.request.jobs - busy):
            if self.waiting and not self.stopped:
                self._hand_out(self.waiting.popleft())
        if self.stopped or not self.waiting:
            for child in [child for child in self.children if child.idle]:
                self._let_go(child)

    def _hand_out(self, item: Item) -> None:
        """Give an item to an idle child of its own sort, or to a new one."""
        number, dtype = item
        gradients = differentiates(self.clauses[number])
        idle = (c for c in self.children if c.idle and c.gradients == gradients)
        child = next(idle, None)
        if child is None:
            known = (self.request, self.probes_lost, self.messages, self.probed)
            child = Child(*known, gradients=gradients)
            self.children.append(child)
        child.item = item
        child.tell([number, dtype, granted(self.verdicts.values()).get(dtype, "strict")])

    def _take_back_what_is_unsettled(self) -> list[Item]:
        """The items whose verdicts are not of the grade that is granted: they have none."""
        items = unsettled(self.verdicts.values())
        for item in items:
            del self.verdicts[item]
        return items

    def _note(self, verdict: Verdict) -> None:
        item = (verdict.clause, verdict.dtype)
        known = item in self.verdicts
        self.verdicts[item] = verdict
        if not known:
            self._tell_progress(verdict)
        if verdict.outcome == "violated" and verdict.force == "must" and self.request.fail_fast:
            self.stopped = f"{verdict.clause} was violated and the run was to fail fast"

    def _gone(self, child: Child) -> None:
        """A child died: its clause crashed, unless it had its verdict already."""
        self._let_go(child)
        if child.idle:
            return
        if not child.judges:
            self._lost_before_survey(child)
            return
        self.crashes += 1
        if child.item is not None and child.item not in self.verdicts:
            verdict = self._unrun(child.item, "crashed", child.fate())
            self.verdicts[child.item] = verdict
            self._tell_progress(verdict)
        if self.crashes >= PATIENT and not self.request.isolate:
            self.stopped = f"after {self.crashes} crashes (--isolate goes on after each)"
        self._go_on()

    def _lost_before_survey(self, child: Child) -> None:
        """Another child goes on without that kind of problem, if there was a probe to blame."""
        if child.probe is None:
            self.stopped = f"{child.fate()} while it was loaded"
            return
        crash = Crash(child.probe, child.fate())
        self.probes_lost.append(crash)
        if child.hung and crash.probe.plain:  # nor would it answer in another dtype
            self.stopped = str(crash)
        elif len(self.probes_lost) >= PROBES and not self.request.isolate:
            self.stopped = f"{crash}, the {PROBES}th crash (--isolate goes on after each)"
        else:
            self._survey()

    def _until_overdue(self) -> float:
        """Seconds until the budget is spent or the first child counts as hanging."""
        now = time.monotonic()
        patience = self.request.thoroughness.patience
        waits = [child.since + patience - now for child in self.children if not child.idle]
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
            if not child.idle and now - child.since >= self.request.thoroughness.patience:
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
        dtypes, about = self.request.dtypes or DTYPES, self.request.about or self.guess
        definition = kind_of(about).definition
        mine = concerning(self.clauses, self.request, about, definition)
        items = tuple((number, dtype) for dtype in dtypes for number in mine)
        outcome = "blocked" if "budget" in self.stopped else "crashed"
        late = ", while it was loaded and probed" if outcome == "blocked" else ""
        self.verdicts[items[0]] = self._unrun(items[0], outcome, f"{self.stopped}{late}")
        return Survey(
            name=self.request.target,
            about=about,
            definition=definition,
            conventions=self.request.conventions,
            defaults={},
            deviations={},
            strict=(),
            order=tuple(mine),
            items=items,
            settled=(),
            refusals=(),
            notes=(),
            advice=(),
            versions=versions(),
            command=with_definition(self.request, mine, definition).command(),
        )
