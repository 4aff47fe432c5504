"""Certification from outside: targets live in child processes that may crash or hang.

A first process loads the target, and the others are copies of it where it can be. One probes its
target and is gone, so that nothing of what it did remains. What it found is told to those that
judge: some are asked for gradients and some for none, as in inference. Where copies cost little,
every second clause has others, and two are at work at the same time.

A child that dies or falls silent leaves the verdict `crashed` on its clause, and a new child goes
on with the rest, after every crash or a few; of one that probes, a kind of problem is lost instead.
At last one more looks for the causes of what was violated. Whoever stops a run gets what was
judged by then, once it is known what there is to judge.
"""

import queue
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spec.backends import Unsuitable
from spec.certification.diagnosing.diagnosis import Diagnosis, to_explain
from spec.certification.isolation.child import CAUSES, Child
from spec.certification.isolation.copying import leaving
from spec.certification.isolation.crew import Crew
from spec.certification.isolation.guard import Crash, nothing_known, too_many, with_crashes
from spec.certification.judging.plan import Item, Plan, granted
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Verdict, unrun, verdict_from_json
from spec.certification.judging.witness import distinct
from spec.certification.settings import Request, selected
from spec.clause import Clause

PATIENT = 3  # crashes after which the rest is blocked, unless the request says `isolate`
MOMENT = 5.0  # seconds after which, at the latest, it is seen what there is to do
Report = Callable[[Verdict, int, int], None]


class Supervisor:
    """Hands out the items of a survey to children, and collects the verdicts."""

    def __init__(self, request: Request, clauses: Mapping[str, Clause]) -> None:
        self.request, self.clauses = request, clauses
        self.report: Report = lambda *_: None
        self.now_and_then: Callable[[], None] = lambda: None  # every few seconds, and at the end
        self.guess = request.about or selected(clauses, request.clauses)[0].about  # at first
        self.crew = Crew(request)
        self.printed = self.crew.stock.printed
        self.survey: Survey | None = None
        self.probed: Mapping[str, Any] | None = None
        self.plan = Plan((), request.fail_fast)
        self.explained, self.diagnosis = False, Diagnosis()
        self.notes: dict[str, int] = {}  # those of all children, each once, with its place
        self.crashes, self.probes_lost = list[Item](), list[Crash]()
        self.start = time.monotonic()

    def run(self) -> None:
        """Judge what there is time for. Raises Unsuitable; stopped too early, KeyboardInterrupt."""
        try:
            while self.crew.children:
                self._step()
                if self.survey is not None:
                    self.now_and_then()
        finally:
            self.crew.disband()
        if self.survey is None:
            reason = self.plan.reason
            self.survey, self.plan = nothing_known(self.request, self.clauses, self.guess, reason)

    def stop(self) -> None:
        """Judge no more, as soon as may be: for a handler of signals."""
        self.crew.messages.put((None, None))

    def found(self) -> tuple[Survey, list[Verdict], Mapping[str, float], Diagnosis]:
        """The survey, a verdict on each of its items, as far as known, what took how long, why."""
        assert self.survey is not None
        notes = [*self.survey.notes, *distinct(self.notes)]
        notes += [self.printed.note] * bool(self.printed.count)
        spent = {"total": time.monotonic() - self.start, **self.crew.spent}
        survey = replace(self.survey, notes=(*notes,))
        return survey, self.plan.all(self.clauses), spent, self.diagnosis

    def _step(self) -> None:
        """Wait for one message, or for the time when something is overdue."""
        try:
            child, message = self.crew.messages.get(timeout=self._until_overdue())
        except queue.Empty:
            self._overdue()
            return
        if child is None and self.survey is None:
            raise KeyboardInterrupt
        if child is None:
            self.plan.stop("interrupted")
            self.crew.end()
        if child not in self.crew.children:
            return
        if message is None:
            self._gone(child)
        elif "unsuitable" in message:
            self._unsuitable(child, message["unsuitable"])
        elif "loaded" in message:
            self._loaded(child, message["loaded"])
        elif "probing" in message:
            child.probing(message["probing"])
        elif "survey" in message:
            self._surveyed(child, message)
        elif "diagnosis" in message:
            self.crew.count("reduction", child)
            self.crew.spent["reduction"] += message["beside"]
            self.diagnosis = Diagnosis.from_json(message["diagnosis"])
            self.crew.end()
        elif "verdict" in message:
            self._judged(child, verdict_from_json(message["verdict"]))
        elif "answering" in message:
            self.crew.answering(child)
        elif "note" in message:
            assert child.item is not None
            self.notes.setdefault(message["note"], self.plan.place[child.item])
        else:
            self.crew.count("elsewhere", child)
            child.item = None
            self._go_on()

    def _surveyed(self, child: Child, message: Mapping[str, Any]) -> None:
        self.probed = probed = message["probed"]
        self.survey = with_crashes(Survey.from_json(message["survey"]), self.probes_lost)
        self.plan = Plan(self.survey.items, self.request.fail_fast)
        self.crew.compiles |= any(x["palette"] for x in probed["by_dtype"].values())
        self.crew.let_go(child)
        self._go_on()

    def _judged(self, child: Child, verdict: Verdict) -> None:
        """A verdict, or the same one with its example."""
        part, known = ("reduction", {}) if child.judged else ("elsewhere", verdict.seconds)
        self.crew.count(part, child, known)
        child.judged = True
        self._note(verdict)

    def _loaded(self, child: Child, copied: bool) -> None:
        """Have the target probed, by a copy of the process that loaded it or by that itself."""
        child.since = time.monotonic()
        self.crew.count("loading", child)
        if child.process is not self.crew.stock.first:
            return
        self.crew.stock.copies = copied
        if copied:
            self.crew.children.remove(child)
            child = self.crew.child()
        child.begin(self.probes_lost)

    def _unsuitable(self, child: Child, reason: str) -> None:
        """No problem is answered; where that is because of crashes, it is no refusal."""
        if not child.sort and not self.probes_lost:
            raise Unsuitable(reason)
        self.plan.stop(reason if child.sort else str(self.probes_lost[0]))
        self.crew.let_go(child)
        self._go_on()

    def _go_on(self) -> None:
        """Hand out items, as many at a time as may be; let go of all children at the end."""
        if self.crew.busy or self.plan.go_on():
            while self.crew.busy < self.crew.most and self._hand_out():
                continue
        if not self.crew.busy and not self._explain():
            self.crew.end()

    def _explain(self) -> bool:
        """Have somebody look for causes, if there is something to explain."""
        if self.explained or self.survey is None:
            return False
        self.explained, verdicts = True, self.plan.all(self.clauses)
        failing = to_explain(self.request, self.survey, verdicts)
        if failing:
            self.crew.explain(self.probes_lost, self.probed, failing, granted(verdicts))
        return bool(failing)

    def _hand_out(self) -> bool:
        """Give the first item that waits to a child, of those that have one; whether any has."""
        for item in self.plan.waiting:
            child = self._free(item)
            if child is not None:
                child.run(item, self.plan.begin(item))
                return True
        return False

    def _free(self, item: Item) -> Child | None:
        """A child of the sort that an item is put to, with nothing to do; a new one if need be."""
        sort = self.crew.sort(self.clauses[item[0]])
        child = self.crew.waiting(sort)
        if child is None and self.crew.lacks(sort):
            child = self.crew.child()
            child.begin(self.probes_lost, self.probed, sort)
        return child

    def _note(self, verdict: Verdict) -> None:
        known = (verdict.clause, verdict.dtype) in self.plan.verdicts
        self.plan.note(verdict)
        if not known:
            self.report(verdict, len(self.plan.verdicts), len(self.plan.place))

    def _gone(self, child: Child) -> None:
        """A child died: its clause crashed, unless it had its verdict already."""
        if not child.hung:
            leaving(child.process)
        self.crew.let_go(child)
        if child.idle:
            return
        if child.item is None:
            self._lost_before_survey(child)
            return
        why = f"{child.fate()}{child.last_asked}{child.last_words}"
        if child.item == CAUSES:
            self.notes.setdefault(f"causes were looked for in vain: {why}", len(self.plan.place))
            self.crew.end()
            return
        self.crashes.append(child.item)
        if child.item not in self.plan.verdicts:
            number, dtype = child.item
            self._note(unrun(self.clauses[number], dtype, "crashed", why))
        if len(self.crashes) >= PATIENT and not self.request.isolate:
            last = sorted(self.crashes, key=self.plan.place.__getitem__)[PATIENT - 1]
            self.plan.stop(f"after {PATIENT} crashes (--isolate goes on after each)", last)
        self._go_on()

    def _lost_before_survey(self, child: Child) -> None:
        """Another child goes on without that kind of problem, if there was a probe to blame."""
        if child.probe is None:
            self.plan.stop(f"{child.fate()} while it was loaded{child.last_words}")
            return
        self.probes_lost.append(Crash(child.probe, child.fate(), child.last_words))
        if reason := too_many(self.probes_lost, child.hung, self.request.isolate):
            self.plan.stop(reason)
        else:
            self.crew.child().begin(self.probes_lost)

    def _until_overdue(self) -> float:
        """Seconds until the budget is spent or the first child counts as hanging."""
        waits = [MOMENT, self.crew.until_overdue()]
        if self.request.budget is not None:
            waits.append(self.start + self.request.budget - time.monotonic())
        return max(0.0, min(waits))

    def _overdue(self) -> None:
        budget = self.request.budget
        if budget is not None and time.monotonic() >= self.start + budget:
            self.plan.stop(f"the budget of {budget:g} s was spent")
            self.crew.end()
        for child in self.crew.overdue():
            child.hung = True
            child.process.kill()
            self._gone(child)
