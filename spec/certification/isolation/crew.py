"""The child processes of a run, their messages, and how their time was spent."""

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
from spec.certification.offered import COMPILING
from spec.certification.settings import Request
from spec.certification.starting import Place
from spec.clause import Clause
from spec.notation import Grade

EXPLAINS: Sort = (True, False, True)


class Crew:
    """The child processes, at work or waiting.

    spent: seconds of all children together, also of those that ended, by what they were spent on:
    each child gets an order and works until it answers. compiles: whether calls may compile. place:
    where the target was named, if elsewhere; then one child works at a time. spare: a child that
    has loaded the target, cannot be copied, and waits for an order.
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
        """A child in the given process, else the spare child, else one in a new process."""
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
        """End all children but one, which looks for causes. dies: also causes of crashes."""
        begun = None if dies else self.waiting(EXPLAINS)
        for child in [*self.children]:
            if child is not begun:
                self.let_go(child)
        if begun is None:
            begun = self.child()
            begun.begin(crashes, probed, EXPLAINS, explains=True, dies=dies)
        begun.explain(failing, grades)

    def begin_to_explain(self, probed: Mapping[str, Any] | None, failing: Sequence[Item]) -> None:
        """Have one more child look for the first cause, while others judge."""
        child = self.waiting(EXPLAINS)
        if child is None:
            child = self.child()
            child.begin((), probed, EXPLAINS, explains=True)
        child.explain(failing, {}, begins=True)

    def diagnosed(self, child: Child, beside: float) -> None:
        """Note that a search for causes has ended. beside: the seconds of forks that shared it."""
        child.item = None
        self.count("reduction", child)
        self.spent["reduction"] += beside

    def let_go(self, child: Child) -> None:
        """End a child, whatever it is doing; usually it is in a call of the target.

        Its time since the last message counts as spent in the target, also if it crashed or hung.
        """
        if not child.idle:
            self.count("implementation" if child.ready else "loading", child)
        self.children.remove(child)
        child.end()

    def end(self) -> None:
        """End all children."""
        for child in [*self.children]:
            self.let_go(child)

    def disband(self) -> None:
        """End all children, and make no new ones."""
        self.end()
        self.stock.end()
        self.first.prints.finish()

    @property
    def busy(self) -> int:
        """The number of children at work."""
        return sum(not child.idle for child in self.children)

    @property
    def most(self) -> int:
        """How many children may work: two if that costs no more, or as requested."""
        cores = len(os.sched_getaffinity(0)) if self.stock.copies and not self.alone else 1
        return max(self.request.jobs, min(2, cores))

    def sort(self, clause: Clause) -> Sort:
        """Which children run a clause: half of them have others, if that costs little.

        By pairs of numbers: the clauses that take longest have odd ones.
        """
        number = int(clause.number.removeprefix(clause.section))
        return differentiates(clause), self.stock.copies and number // 2 % 2 == 0, False

    def waiting(self, sort: Sort) -> Child | None:
        """A child of a sort that waits; None if there is none."""
        return next((child for child in self.children if child.sort == sort and child.idle), None)

    def lacks(self, sort: Sort) -> bool:
        """Whether one more child of a sort may be made."""
        return sum(child.sort == sort for child in self.children) < self.request.jobs

    @property
    def patience(self) -> float:
        """Seconds without a message after which a child counts as hanging."""
        return self.request.thoroughness.patience * (COMPILING if self.compiles else 1.0)

    def until_overdue(self) -> float:
        """Seconds until the first child counts as hanging."""
        now = time.monotonic()
        waits = (child.overdue(self.patience) - now for child in self.children if not child.idle)
        return min(waits, default=self.patience)

    def overdue(self) -> list[Child]:
        """End the children that count as hanging, and return them."""
        now, busy = time.monotonic(), [child for child in self.children if not child.idle]
        late = [child for child in busy if child.overdue(self.patience) <= now]
        for child in late:
            child.hung, child.endless = True, now - child.since < self.patience
            child.process.kill()
        return late

    def loaded(self, child: Child, copied: bool) -> bool:
        """Note that a child has loaded the target; return if it is the first. copied: it forks."""
        child.since, child.loaded = time.monotonic(), True
        self.count("loading", child)
        first = child.process is self.stock.first
        if first:
            self.stock.copies = copied
        if first and copied:
            self.children.remove(child)
        return first

    def answering(self, child: Child) -> None:
        """Note a message of a child; the first one comes when it is ready."""
        child.since = time.monotonic()
        if not child.ready:
            child.ready = True
            self.count("loading", child)

    def count(self, part: str, child: Child, known: Mapping[str, float] | None = None) -> None:
        """Add the time of a child since the last count. known: seconds that it reports itself."""
        seconds = child.lap()
        for name, told in (known or {}).items():
            self.spent[name] += told
            seconds -= told
        self.spent[part] += max(0.0, seconds)
