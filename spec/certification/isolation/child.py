"""A worker process as its parent sees it: a target lives in it, and may bring it down."""

import contextlib
import json
import os
import queue
import secrets
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from spec.certification.isolation.copying import Copy, Process, Stock, ended
from spec.certification.isolation.guard import Crash, Probe
from spec.certification.isolation.printed import Reader
from spec.certification.isolation.protocol import CAUSES, messages
from spec.certification.judging.plan import How, Item
from spec.certification.judging.verdict import ASKED
from spec.notation import Grade

# Who speaks, a child, a batch that is back (`away`) or nobody, and what a child says.
Messages = queue.SimpleQueue[tuple[object, Mapping[str, Any] | None]]
Sort = tuple[bool, bool]  # whether gradients are asked for, and which half of the clauses it is
ENDS = 100.0  # times the patience that an order has in all, however often its child is heard of


class Child:
    """A worker process, and what it was given to do, first of all to load the target.

    sort: of what it is to judge, if that is its task.
    item: the clause and dtype that it runs. probe: what it puts to the target before that.
    how: in which way it runs that. order: a word that the answer to its last order repeats.
    since: when it was last heard of, or told something; began: when it was given that order.
    place: where it writes down what it is asked. prints: who reads what it prints. loaded, ready:
    it has loaded the target; and probed it if it was to. judged: the clause that it runs has a
    verdict, and only an example may be missing. hung, endless: it counts as hanging; though it was
    heard of.
    """

    def __init__(self, stock: Stock, process: Process, place: int, heard: Messages) -> None:
        assert process.stderr is not None
        self.process, self.asked, self.place = process, stock.asked, place
        self.prints = Reader(process.stderr, stock.printed)
        self.item: Item | None = None
        self.probe: Probe | None = None
        self.since = self.began = self.counted = time.monotonic()
        self.loaded, self.ready, self.judged = isinstance(process, Copy), False, False
        self.how, self.order = How(), ""
        self.sort: Sort | None = None
        self.hung = self.endless = False
        self.told = queue.SimpleQueue[str | None]()
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()
        threading.Thread(target=self._speak, daemon=True).start()

    @property
    def idle(self) -> bool:
        """Whether nothing is expected of it."""
        return self.sort is not None and self.item is None

    def begin(
        self,
        crashes: Sequence[Crash],
        probed: Mapping[str, Any] | None = None,
        sort: Sort | None = None,
        explains: bool = False,
        dies: bool = False,
    ) -> None:
        """Have it probe the target, or, told what probing found, stand by for a sort of clauses.

        explains: or to look for causes; dies: of crashes, too, so that nothing is known to be lost.
        """
        self.sort = sort
        known, asked = [asdict(crash) for crash in crashes], sort is not None and sort[0]
        told = {"probed": probed, "gradients": asked, "explains": explains, "place": self.place}
        self.tell({"crashes": known, "dies": dies, **told, "order": self._ordered()})

    def run(self, item: Item, how: How) -> None:
        """Have it run a clause."""
        self.item, self.how, self.judged = item, how, False
        self.lap()
        self.tell([*item, *how, self._ordered()])

    def explain(self, failing: Sequence[Item], grades: Mapping[str, Grade]) -> None:
        """Have it look for the causes of what is violated."""
        self.item, self.judged = CAUSES, False
        self.lap()
        self.tell({"explain": failing, "grades": dict(grades), "order": self._ordered()})

    def tell(self, message: Any) -> None:
        """Write one line to the child; one that is gone is noticed by its silence."""
        self.since = time.monotonic()
        self.told.put(json.dumps(message) + "\n")

    def probing(self, written: Mapping[str, Any]) -> None:
        """Note what it is about to do, if anything; each probe has the whole patience."""
        self.probe, self.since = Probe.from_json(written) if written else None, time.monotonic()

    @property
    def doing(self) -> str:
        """What it does before it judges, in words."""
        if self.probe is None:
            return "choosing the shapes to test"
        kinds = ", ".join(self.probe.kinds) or "the basic case"
        return f"probing {self.probe.asked or 'results'} [{self.probe.dtype}]: {kinds}"

    def lap(self) -> float:
        """Seconds since its time was last counted, which is from now on."""
        before, self.counted = self.counted, time.monotonic()
        return self.counted - before

    def overdue(self, patience: float) -> float:
        """When it counts as hanging, by the clock: its last order has to come to an end as well."""
        return min(self.since + patience, self.began + ENDS * patience)

    def fate(self) -> str:
        """How the process ended, in words."""
        if self.endless:
            return f"no end after {time.monotonic() - self.began:.0f} s"
        if self.hung:
            return f"no result after {time.monotonic() - self.since:.0f} s"
        code = self.process.wait()
        if code < 0:
            return f"the process died of {signal.Signals(-code).name}"
        return f"the process ended with exit code {code}"

    def end(self) -> None:
        """Stop it, whatever it is doing, and read to its end what it has printed."""
        self.told.put(None)
        ended(self.process)
        self.prints.finish()

    @property
    def last_words(self) -> str:
        """The last line that it printed, which may say why it ended."""
        return f"; it printed last: {self.prints.last}" if self.prints.last else ""

    @property
    def last_asked(self) -> str:
        """What it was asked in the clause that it runs, if that is known."""
        asked = self.asked.last(self.place) if self.asked and self.ready else ""
        return f"{ASKED}{asked}" if asked else ""

    def _ordered(self) -> str:
        """A word for one more order, which nobody can guess."""
        self.began, self.order = time.monotonic(), secrets.token_hex(8)
        return self.order

    def _listen(self, heard: Messages) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as told:
            for message in messages(told):
                heard.put((self, message))
        heard.put((self, None))

    def _speak(self) -> None:
        """Write what is told: whoever does not read it has nobody wait but this thread."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it is gone
            pipe = self.process.stdin.fileno()
            while (line := self.told.get()) is not None:
                rest = line.encode()
                while rest:
                    rest = rest[os.write(pipe, rest) :]
