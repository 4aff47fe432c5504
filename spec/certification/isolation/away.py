"""Work in the processes of an executor, which may be on other machines.

The executor gets batches of items, the longest first, and a few more batches than it has workers,
so that no worker waits. The results are the same as from child processes here, in any order. A
batch is lost if its worker dies, if the connection breaks, or if no result arrives for longer than
a target may take. A lost batch is submitted once more, and after a second loss its items are judged
here. All remaining items are judged here if the executor is broken or fails repeatedly. A note in
the certificate reports this.
"""

import os
import sys
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from spec.certification.isolation.child import Messages
from spec.certification.isolation.protocol import Interfered
from spec.certification.isolation.scheduler import closed, workers
from spec.certification.isolation.station import SLICE, Lost, dismiss, judge
from spec.certification.isolation.workbench import Workbench
from spec.certification.judging.edition import edition
from spec.certification.judging.plan import FEW, How, Item, Plan
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import verdict_from_json
from spec.certification.settings import Request
from spec.notation import HALF
from spec.written import installed

TWICE = 2  # an item that is lost so often is judged at home
FAILED = 3  # times, with nothing done in between, after which an executor is given no more
AHEAD = 2  # batches for a worker, that it may have the next one when it is done
SHARES = 3  # in which what is left is divided, for a worker
LEAST, MOST = 150, 600  # problems in a batch


@dataclass(eq=False)
class Batch:
    """Items that an executor has, how to run each of them, and the future of their results."""

    items: Mapping[Item, How]
    future: Future[Any]
    since: float = field(default_factory=time.monotonic)


class Away:
    """The batches that an executor has (`out`). over: it gets no more batches."""

    def __init__(self, executor: Executor, request: Request) -> None:
        self.executor, self.request = executor, request
        self.out: list[Batch] = []
        self.over = False
        self.workers = workers(executor)
        self.width = self._width()
        self.news = self.failed = time.monotonic()
        self.failures = 0
        self.left: set[str] = set()  # workers that are gone
        self.lost: Counter[Item] = Counter()
        self.reasons: Counter[str] = Counter()
        self.told = self._told()
        for _ in range(self.width):  # have the target loaded, as is done here at the same time
            self._submit(None, ())

    def leaves(self, item: Item) -> bool:
        """Whether an item has to be judged here."""
        return self.over or self.lost[item] >= TWICE

    def hand_out(self, bench: Workbench, survey: Survey) -> None:
        """Submit as many waiting items as the executor can take."""
        crashes = [asdict(crash) for crash in bench.lost]
        known = {"probed": bench.probed, "crashes": crashes, "versions": dict(survey.versions)}
        while not self.over and len(self.out) < AHEAD * self.width:
            items = self._next(bench, survey.definition)
            if not items:
                return
            asked = {item: bench.plan.begin(item) for item in items}
            future = self._submit(known, [(*item, *how) for item, how in asked.items()])
            if future is None:
                bench.plan.give_back(items)
                return
            self._send(Batch(asked, future), bench.crew.messages)

    def back(self, batch: Batch, bench: Workbench) -> None:
        """Record the results of a batch; lost items wait again. Raises Interfered."""
        if batch not in self.out:  # nobody waits for it any more
            return
        error = None if batch.future.cancelled() else batch.future.exception()
        if isinstance(error, Interfered):
            raise error
        if batch.future.cancelled() or error is not None:
            self._lose(batch, error, bench.plan)
            return
        self.out.remove(batch)
        self.news, self.failures = time.monotonic(), 0
        found = batch.future.result()
        verdicts = [verdict_from_json(written) for written in found["verdicts"]]
        bench.crashes += [(number, dtype) for number, dtype in found["crashes"]]
        for verdict in verdicts:
            bench.note(verdict)
        for note, (number, dtype) in found["notes"]:
            bench.say(note, (number, dtype))
        for part, seconds in found["spent"].items():
            bench.crew.spent[part] += seconds
        for line, times in found["printed"].items():
            bench.crew.stock.printed.add(line, times)
        bench.plan.give_back({*batch.items} - {(v.clause, v.dtype) for v in verdicts})
        if not self.out:
            self._look()

    def overdue(self, bench: Workbench) -> bool:
        """Whether no result will arrive in time; if so, all batches count as lost."""
        patience = bench.crew.patience + SLICE
        cut_off = closed(self.executor)
        if not self.out or (not cut_off and time.monotonic() - self.news < patience):
            return False
        self.over = self.over or cut_off or len(self.out) >= self.width
        for batch in self._called_back():
            self._lose(batch, ConnectionError() if cut_off else TimeoutError(), bench.plan)
        return True

    def end(self) -> None:
        """Stop waiting for results."""
        self.over = True
        for batch in self._called_back():
            self.out.remove(batch)
        dismiss(self.told["run"])

    @property
    def notes(self) -> list[str]:
        """Return the notes about workers that died, and how often."""
        gone = f"workers that left while clauses were judged: {len(self.left)}"
        reasons = sorted(self.reasons.items())
        lost = [f"lost elsewhere and judged again: {n} verdicts ({x})" for x, n in reasons]
        return [gone] * bool(self.left) + lost

    def _called_back(self) -> list[Batch]:
        """Cancel all batches, if the executor still listens, and return them."""
        for batch in self.out:
            if not closed(self.executor):
                batch.future.cancel()
        return [*self.out]

    def _send(self, batch: Batch, messages: Messages) -> None:
        self.out.append(batch)
        self.news = time.monotonic()
        batch.future.add_done_callback(lambda _: messages.put((batch, None)))

    def _submit(self, known: Mapping[str, Any] | None, wanted: Any) -> Future[Any] | None:
        try:
            return self.executor.submit(judge, self.told, known, wanted, uuid.uuid4().hex)
        except Exception as error:  # shut down, broken, or without a connection
            self.over = True
            self.reasons[_named(error)] += len(wanted)
            return None

    def _next(self, bench: Workbench, definition: str) -> list[Item]:
        """The items of the next batch.

        In 16 bits, most rounding models that a target needs are found by the definition's clause.
        So that clause comes first, and the others, which reuse its result, come last. If the run
        may end early, all items keep their order.
        """
        plan, many = bench.plan, self.request.thoroughness.examples
        efforts = {item: bench.clauses[item[0]].effort for item in plan.waiting}
        weights = {item: x * (FEW if plan.few(item) else many) for item, x in efforts.items()}

        def turn(item: Item) -> tuple[int, int, int]:
            half = item[1] in HALF
            first = 0 if half and item[0] == definition else 1 + half
            return first, -weights[item], plan.place[item]

        mine = [item for item in plan.waiting if not self.leaves(item)]
        if not self.request.fail_fast and self.request.budget is None:
            mine.sort(key=turn)
        share = sum(weights[item] for item in mine) / (SHARES * self.width)
        found, room = list[Item](), min(max(share, LEAST), MOST)
        for item in mine:
            if room <= 0:
                break
            room -= weights[item]
            found.append(item)
        return found

    def _lose(self, batch: Batch, error: BaseException | None, plan: Plan) -> None:
        self.out.remove(batch)
        if batch.since >= self.failed:  # what was out when it failed last fails for the same reason
            self.failures, self.failed = self.failures + 1, time.monotonic()
        self.over = self.over or self.failures >= FAILED or isinstance(error, BrokenExecutor)
        self.reasons[_named(error)] += len(batch.items)
        self.lost.update([*batch.items])
        plan.give_back(batch.items)
        self._look()

    def _look(self) -> None:
        """Update the list of workers, and note those that left."""
        if self.workers:
            now = workers(self.executor)
            self.left |= {*self.workers} - {*now}
            self.workers = now or self.workers

    def _width(self) -> int:
        """The number of workers, as far as it is known."""
        told = (getattr(self.executor, name, None) for name in ("_max_workers", "num_workers"))
        return sum(self.workers.values()) or next(filter(None, told), os.cpu_count() or 1)

    def _told(self) -> dict[str, Any]:
        """The facts that a task needs: about the run, and about the place of the target."""
        beside = [Path(path).resolve() for path in sys.path if path]
        return {
            "run": uuid.uuid4().hex,
            "request": self.request.to_json(),
            "edition": edition(),
            "folder": os.getcwd(),
            "paths": [str(path) for path in beside if path not in installed()],
        }


def _named(error: BaseException | None) -> str:
    """The reason for a loss, in a word; for errors of a station, its message."""
    if error is None:
        return "cancelled"
    return str(error) if isinstance(error, Lost) else type(error).__name__
