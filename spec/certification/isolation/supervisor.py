"""Certification from outside: targets run in child processes that may crash or hang.

A first process loads the target, and the others are forks of it if possible. One child probes the
target and ends, so that no state of it remains. The results go to the children that judge
(`workbench`): some compute gradients and others do not, as in inference. If forks are cheap, every
second clause has other children, and two are at work at the same time. An executor may have others
at work, anywhere (`away`).

If a child dies or hangs, its clause has the verdict `crashed`, and a new child continues with the
rest, after every crash or after a few. If it was probing, one kind of problem counts as lost
instead. At last a child looks for the causes of failures (`explaining`). If a person stops the run,
the verdicts so far are returned, once it is known which clauses apply.
"""

import queue
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from spec.backends import Unsuitable
from spec.certification.diagnosing.diagnosis import Diagnosis, unknown_causes
from spec.certification.isolation.away import Away, Batch
from spec.certification.isolation.child import Child
from spec.certification.isolation.crew import Crew
from spec.certification.isolation.explaining import Explaining
from spec.certification.isolation.guard import Crash, nothing_known, too_many, with_crashes
from spec.certification.isolation.protocol import CAUSES, Interfered, turn
from spec.certification.isolation.scheduler import connected
from spec.certification.isolation.surveying import read_survey
from spec.certification.isolation.workbench import Workbench
from spec.certification.judging.edition import sealed
from spec.certification.judging.plan import Plan
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import INTERRUPTED, SPENT, Verdict
from spec.certification.judging.witness import distinct
from spec.certification.settings import Request, selected
from spec.clause import Clause

PATIENT = 3  # crashes after which the rest is blocked, unless the request says `isolate`
MOMENT = 5.0  # seconds after which, at the latest, it is seen what there is to do


class Supervisor:
    """Hands out the items of a survey to children, and collects the verdicts.

    executor: runs items in other processes, if there is one.
    """

    def __init__(
        self, request: Request, clauses: Mapping[str, Clause], executor: Executor | None = None
    ) -> None:
        self.request, self.hashes = sealed(request)  # before the target is loaded
        self.clauses, request = clauses, self.request
        self.now_and_then: Callable[[], None] = lambda: None  # every few seconds, and at the end
        self.guess = request.kind or selected(clauses, request.clauses)[0].about  # at first
        # First of all: an executor may copy this process, which has no threads yet.
        self.away = None if executor is None else Away(executor, request)
        self.crew = Crew(request)
        self.bench = Workbench(self.crew, clauses)
        self.causes = Explaining(self.bench)
        self.printed = self.crew.stock.printed
        self.survey: Survey | None = None
        self.start = time.monotonic()

    def run(self) -> None:
        """Judge all items in time. Raises Unsuitable; KeyboardInterrupt if stopped early."""
        try:
            with connected(self.request.scheduler) as executor:
                self.away = self.away if executor is None else Away(executor, self.request)
                while self.crew.children or self._elsewhere:
                    self._step()
                    if self.survey is not None:
                        self.now_and_then()
                self._end()
        finally:
            self._end()
            self.crew.disband()
        if self.survey is None:
            reason = self.bench.plan.reason
            known = nothing_known(self.request, self.clauses, self.guess, reason)
            self.survey, self.bench.plan = known

    def stop(self) -> None:
        """Stop judging as soon as possible; a signal handler may call this."""
        self.crew.messages.put((None, None))

    def found(self) -> tuple[Survey, list[Verdict], Mapping[str, float], Diagnosis]:
        """The survey, a verdict on each item, the seconds by part, and the diagnosis."""
        assert self.survey is not None
        survey = replace(self.survey, versions={**self.survey.versions, **self.hashes})
        notes = [*survey.notes, *distinct(self.bench.notes)]
        notes += [] if self.away is None else self.away.notes
        notes += [self.printed.note] * bool(self.printed.count)
        diagnosis = self.causes.diagnosis
        spent = {"total": time.monotonic() - self.start, **self.crew.spent}
        verdicts = self.bench.plan.all(self.clauses)
        notes += unknown_causes(survey, verdicts, self.bench.plan.reason, diagnosis)
        return replace(survey, notes=(*notes,)), verdicts, spent, diagnosis

    @property
    def _elsewhere(self) -> int:
        """The number of batches that an executor has."""
        return 0 if self.away is None else len(self.away.out)

    def _step(self) -> None:
        """Wait for one message, or until a child counts as hanging."""
        try:
            child, message = self.crew.messages.get(timeout=self._until_overdue())
        except queue.Empty:
            self._overdue()
            return
        if child is None and self.survey is None:
            raise KeyboardInterrupt
        if child is None:
            self.bench.plan.stop(INTERRUPTED)
            self._end()
        elif isinstance(child, Batch) or (isinstance(child, Child) and child in self.crew.children):
            try:
                self._heard(child, message)
            except Interfered as what:
                self.bench.interfered(f"its process {what}")
                self.causes.drop()
                self._end()

    def _heard(self, child: Child | Batch, message: Mapping[str, Any] | None) -> None:
        if isinstance(child, Batch):
            self._back(child)
        elif message is None:
            self._gone(child)
        elif (word := turn(child, message)) == "unsuitable":
            self._unsuitable(child, message["unsuitable"])
        elif word == "loaded":
            self._loaded(child, message["loaded"])
        elif word == "survey":
            self._surveyed(child, message)
        elif word == "diagnosis":
            (self._end if self.causes.heard(child, message) else self._go_on)()
        else:
            self.bench.heard(child, message)
            if child.idle:
                self._go_on()

    def _surveyed(self, child: Child, message: Mapping[str, Any]) -> None:
        found = read_survey(message, self.request, self.clauses)
        self.bench.know(message["probed"], message.get("cost"))
        self.survey = with_crashes(found, self.bench.lost)
        self.bench.plan = Plan.of(self.survey.items, self.request, self.clauses)
        self.bench.deviating = self.survey.deviations.keys()
        self.crew.let_go(child)
        self._go_on()

    def _loaded(self, child: Child, copied: bool) -> None:
        """Have the target probed, by a fork of the process that loaded it or by itself."""
        if self.crew.loaded(child, copied):
            (self.crew.child() if copied else child).begin(self.bench.lost)

    def _unsuitable(self, child: Child, reason: str) -> None:
        """Raise Unsuitable if no problem is answered; stop if crashes are the reason."""
        if not child.sort and not self.bench.lost:
            raise Unsuitable(reason)
        self.bench.plan.stop(reason if child.sort else str(self.bench.lost[0]))
        self.crew.let_go(child)
        self._go_on()

    def _back(self, batch: Batch) -> None:
        """Record a batch that an executor has finished or lost."""
        assert self.away is not None
        self.away.back(batch, self.bench)
        self._too_many()
        self._go_on()

    def _go_on(self) -> None:
        """Hand out as many items as possible; end all children when all is done."""
        plan = self.bench.plan
        if self.crew.busy or self._elsewhere or plan.go_on():
            if self.survey is not None:
                self.causes.begin(self.survey)
                if self.away is not None:
                    self.away.hand_out(self.bench, self.survey)
            left = self.away.leaves if self.away is not None else bool
            self.bench.hand_out([item for item in plan.waiting if left(item)])
        if not self.crew.busy and not self._elsewhere and not self.causes.order(self.survey):
            self._end()

    def _end(self) -> None:
        """Stop all work, here and elsewhere."""
        self.crew.end()
        if self.away is not None:
            self.away.end()

    def _gone(self, child: Child) -> None:
        """Record that a child died, whatever it was doing."""
        why = self.bench.gone(child)
        if child.idle:
            return
        if child.item is None:
            self._lost_before_survey(child)
        elif child.item == CAUSES and self.causes.ordered:
            self.bench.in_vain(why)
            self._end()
        else:  # or the early search for a cause, which is not needed
            self._too_many()
            self._go_on()

    def _too_many(self) -> None:
        """Stop after the last crash that is allowed."""
        plan, crashes = self.bench.plan, self.bench.crashes
        if len(crashes) >= PATIENT and not self.request.isolate:
            last = sorted(crashes, key=plan.place.__getitem__)[PATIENT - 1]
            plan.stop(f"after {PATIENT} crashes (--isolate goes on after each)", last)

    def _lost_before_survey(self, child: Child) -> None:
        """Start another child without the probe that crashed, if one did."""
        if child.probe is None:
            self.bench.plan.stop(f"{child.fate()} while it was loaded{child.last_words}")
            return
        self.bench.lost.append(Crash(child.probe, child.fate(), child.last_words))
        if reason := too_many(self.bench.lost, child.hung, self.request.isolate):
            self.bench.plan.stop(reason)
        else:
            self.crew.child().begin(self.bench.lost)

    def _until_overdue(self) -> float:
        """Seconds until the time limit or until the first child counts as hanging."""
        waits = [MOMENT, self.crew.until_overdue()]
        if self.request.budget is not None:
            waits.append(self.start + self.request.budget - time.monotonic())
        return max(0.0, min(waits))

    def _overdue(self) -> None:
        budget = self.request.budget
        if budget is not None and time.monotonic() >= self.start + budget:
            self.bench.plan.stop(SPENT.format(budget))
            self._end()
        for child in self.crew.overdue():
            self._gone(child)
        if self.away is not None and self.away.overdue(self.bench):
            self._go_on()
