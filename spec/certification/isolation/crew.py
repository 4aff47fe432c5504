"""The processes that are at work for a run, what they say, and what their time was spent on."""

import itertools
import os
import queue
import time
from collections.abc import Mapping, Sequence
from typing import Any

from spec.certification.isolation.child import Child, Messages, Sort
from spec.certification.isolation.copying import Process, Stock
from spec.certification.isolation.guard import Crash
from spec.certification.judging.judging import PARTS, differentiates
from spec.certification.judging.plan import Item
from spec.certification.settings import COMPILING, Request
from spec.certification.starting import Place
from spec.clause import Clause
from spec.notation import Grade


class Crew:
    """Children, those that are at work and those that wait for work.

    spent: seconds by what they were spent on, of all children together, also of those that are
    gone: each is told something, and works until it is heard of. compiles: whether calls may.
    place: where the target is found that was named elsewhere; then one at a time is at work.
    spare: a child that has loaded the target, cannot be copied, and waits for what it is to do.
    """

    def __init__(self, request: Request, place: Place | None = None) -> None:
        self.request, self.alone = request, place is not None
        self.spare: Child | None = None
        self.compiles = request.compiled is not None
        self.messages: Messages = queue.SimpleQueue()  # a signal's handler may put in it
        self.children: list[Child] = []
        self.stock = Stock(request, place)
        self.places = itertools.count()  # where they write down what they are asked
        self.spent = dict.fromkeys(PARTS, 0.0)
        self.first = self.child(self.stock.first)

    def child(self, process: Process | None = None) -> Child:
        """A child in a process, one more from the stock if none is given, or the spare one."""
        if self.spare is not None:
            spare, self.spare = self.spare, None
            self.children.append(spare)
            return spare
        place, process = next(self.places), process or self.stock.another()
        self.children.append(Child(self.stock, process, place, self.messages))
        return self.children[-1]

    def explain(
        self,
        crashes: Sequence[Crash],
        probed: Mapping[str, Any] | None,
        failing: Sequence[Item],
        grades: Mapping[str, Grade],
        dies: bool,
    ) -> None:
        """Have nobody but one child at work, who looks for causes. dies: of crashes, too."""
        self.end()
        child = self.child()
        child.begin(crashes, probed, (True, False), explains=True, dies=dies)
        child.explain(failing, grades)

    def let_go(self, child: Child) -> None:
        """Have one child less, whatever it is doing: in a call of the target, more often than not.

        What it was doing when nobody knows it is counted so, also of one that crashed or hung.
        """
        if not child.idle:
            self.count("implementation" if child.ready else "loading", child)
        self.children.remove(child)
        child.end()

    def end(self) -> None:
        """Have none at work."""
        for child in [*self.children]:
            self.let_go(child)

    def disband(self) -> None:
        """Have none at all, nor ever again."""
        self.end()
        self.stock.end()
        self.first.prints.finish()

    @property
    def busy(self) -> int:
        """How many are at work."""
        return sum(not child.idle for child in self.children)

    @property
    def most(self) -> int:
        """How many may be at work: two where that costs no more, or as was asked."""
        cores = len(os.sched_getaffinity(0)) if self.stock.copies and not self.alone else 1
        return max(self.request.jobs, min(2, cores))

    def sort(self, clause: Clause) -> Sort:
        """Of the children that a clause is put to: of even numbers others, if that costs little."""
        number = int(clause.number.removeprefix(clause.section))
        return differentiates(clause), self.stock.copies and number % 2 == 0

    def waiting(self, sort: Sort) -> Child | None:
        """One of a sort that has nothing to do."""
        return next((child for child in self.children if child.sort == sort and child.idle), None)

    def lacks(self, sort: Sort) -> bool:
        """Whether there may be one more of a sort."""
        return sum(child.sort == sort for child in self.children) < self.request.jobs

    @property
    def patience(self) -> float:
        """Seconds after which a child that has said nothing counts as hanging."""
        return self.request.thoroughness.patience * (COMPILING if self.compiles else 1.0)

    def until_overdue(self) -> float:
        """Seconds until the first child counts as hanging."""
        now = time.monotonic()
        waits = (child.overdue(self.patience) - now for child in self.children if not child.idle)
        return min(waits, default=self.patience)

    def overdue(self) -> list[Child]:
        """Those that count as hanging, and are no more."""
        now, busy = time.monotonic(), [child for child in self.children if not child.idle]
        late = [child for child in busy if child.overdue(self.patience) <= now]
        for child in late:
            child.hung, child.endless = True, now - child.since < self.patience
            child.process.kill()
        return late

    def loaded(self, child: Child, copied: bool) -> bool:
        """A child has loaded the target: whether it is the first. copied: now it copies itself."""
        child.since, child.loaded = time.monotonic(), True
        self.count("loading", child)
        first = child.process is self.stock.first
        if first:
            self.stock.copies = copied
        if first and copied:
            self.children.remove(child)
        return first

    def answering(self, child: Child) -> None:
        """A child is heard of, for the first time when it is ready."""
        child.since = time.monotonic()
        if not child.ready:
            child.ready = True
            self.count("loading", child)

    def count(self, part: str, child: Child, known: Mapping[str, float] | None = None) -> None:
        """Count what a child did since it was last counted; known: what it says of it itself."""
        seconds = child.lap()
        for name, told in (known or {}).items():
            self.spent[name] += told
            seconds -= told
        self.spent[part] += max(0.0, seconds)
