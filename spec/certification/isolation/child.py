"""A worker process as seen by its parent. The target in it may crash or hang it."""

import contextlib
import json
import os
import queue
import secrets
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
from spec.certification.target.ward import signal_of
from spec.notation import Grade

# Who speaks, a child, a batch that is back (`away`) or nobody, and what a child says.
Messages = queue.SimpleQueue[tuple[object, Mapping[str, Any] | None]]
# A child computes gradients or none, has half of the clauses, and judges or searches for causes.
Sort = tuple[bool, bool, bool]
ENDS = 100.0  # times the patience that an order has in all, however often its child is heard of


class Child:
    """A worker process, and its current order; the first order is to load the target.

    sort: which clauses it judges, if it judges. item: the clause and dtype that it runs. how: in
    which way it runs them. probe: the probe that it makes before. order: a random word that the
    answer to the last order repeats. since: when it last sent or got a message. began: when it got
    that order. place: its slot for descriptions of calls. prints: the reader of its output. loaded,
    ready: it has loaded the target; and probed it, if it was ordered to. judged: the clause that it
    runs has a verdict, and only a counterexample may be missing. hung, endless: it counts as
    hanging; endless if it still sent messages.
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
        """Whether it has no order."""
        return self.sort is not None and self.item is None

    def begin(
        self,
        crashes: Sequence[Crash],
        probed: Mapping[str, Any] | None = None,
        sort: Sort | None = None,
        explains: bool = False,
        dies: bool = False,
    ) -> None:
        """Order it to probe the target; or, given the results, to be ready for clauses.

        explains: it is to look for causes instead. dies: these include causes of crashes, so no
        crash is passed on.
        """
        self.sort = sort
        known, asked = [asdict(crash) for crash in crashes], sort is not None and sort[0]
        told = {"probed": probed, "gradients": asked, "explains": explains, "place": self.place}
        self.tell({"crashes": known, "dies": dies, **told, "order": self._ordered()})

    def run(self, item: Item, how: How) -> None:
        """Order it to run a clause."""
        self.item, self.how, self.judged = item, how, False
        self.lap()
        self.tell([*item, *how, self._ordered()])

    def explain(
        self, failing: Sequence[Item], grades: Mapping[str, Grade], begins: bool = False
    ) -> None:
        """Order it to look for the causes of failing clauses. begins: for the first one alone."""
        self.item, self.judged = CAUSES, False
        self.lap()
        told = {"explain": failing, "grades": dict(grades), "begins": begins}
        self.tell({**told, "order": self._ordered()})

    def tell(self, message: Any) -> None:
        """Send one line to the child; if it is gone, its silence shows that."""
        self.since = time.monotonic()
        self.told.put(json.dumps(message) + "\n")

    def probing(self, written: Mapping[str, Any]) -> None:
        """Record the probe that it is about to make; each probe has the whole time limit."""
        self.probe, self.since = Probe.from_json(written) if written else None, time.monotonic()

    @property
    def doing(self) -> str:
        """Its activity before it judges, in words."""
        if self.probe is None:
            return "choosing the shapes to test"
        kinds = ", ".join(self.probe.kinds) or "the basic case"
        return f"probing {self.probe.asked or 'results'} [{self.probe.dtype}]: {kinds}"

    def lap(self) -> float:
        """The seconds since the last call of `lap`, or since the start."""
        before, self.counted = self.counted, time.monotonic()
        return self.counted - before

    def overdue(self, patience: float) -> float:
        """The time at which it counts as hanging; an order also has to end by then."""
        return min(self.since + patience, self.began + ENDS * patience)

    def fate(self) -> str:
        """How the process ended, in words."""
        if self.endless:
            return f"no end after {time.monotonic() - self.began:.0f} s"
        if self.hung:
            return f"no result after {time.monotonic() - self.since:.0f} s"
        code = self.process.wait()
        if code < 0:
            return f"the process died of {signal_of(code)}"
        return f"the process ended with exit code {code}"

    def end(self) -> None:
        """End the process, and read the rest of its output."""
        self.told.put(None)
        ended(self.process)
        self.prints.finish()

    @property
    def last_words(self) -> str:
        """The last line that it printed, which may say why it ended."""
        return f"; it printed last: {self.prints.last}" if self.prints.last else ""

    @property
    def last_asked(self) -> str:
        """The last call of the target in the clause that it runs, in words, if it is known."""
        asked = self.asked.last(self.place) if self.asked and self.ready else ""
        return f"{ASKED}{asked}" if asked else ""

    def _ordered(self) -> str:
        """A random word for one order, which no target can guess."""
        self.began, self.order = time.monotonic(), secrets.token_hex(8)
        return self.order

    def _listen(self, heard: Messages) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as told:
            for message in messages(told):
                heard.put((self, message))
        heard.put((self, None))

    def _speak(self) -> None:
        """Write queued lines in a thread of its own, which blocks if the child does not read."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it is gone
            pipe = self.process.stdin.fileno()
            while (line := self.told.get()) is not None:
                rest = line.encode()
                while rest:
                    rest = rest[os.write(pipe, rest) :]
