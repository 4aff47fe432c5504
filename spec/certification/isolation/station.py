"""Tasks for an executor, and the child processes that carry them out there.

A task runs in a process of the executor. It does not judge there, but in children of that process,
as on this machine, so that a crash or a hang of the target is contained and reported. The children
stay for the next task of the same run, and are ended if none comes for a while.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from spec.certification.isolation.child import Child
from spec.certification.isolation.crew import Crew
from spec.certification.isolation.guard import Crash
from spec.certification.isolation.protocol import turn
from spec.certification.isolation.workbench import Workbench
from spec.certification.judging.edition import edition
from spec.certification.judging.judging import PARTS
from spec.certification.judging.plan import How, Plan
from spec.certification.judging.verdict import verdict_to_json
from spec.certification.settings import Request
from spec.certification.starting import Place
from spec.certification.target.required import required
from spec.certification.target.versions import GPU, versions
from spec.notation import Grade

IDLE = 60.0  # seconds after which those who have nothing to do are sent away
SLICE = 5.0  # seconds after which a task begins nothing more
Told = Mapping[str, Any]
Wanted = Sequence[tuple[str, str, Grade, bool]]


class Lost(Exception):
    """Nothing can be judged here: the target cannot be loaded, or versions differ."""


class Station:
    """The children on this machine that judge for a run. run: a word for it."""

    def __init__(self, run: str, request: Request, place: Place) -> None:
        self.run, self.loaded = run, False
        self.crew = Crew(request, place)
        self.bench = Workbench(self.crew, required(request))
        self.leaving: threading.Timer | None = None

    def load(self) -> None:
        """Wait until the target is loaded. Raises Lost."""
        while not self.loaded:
            self._step()

    def judged(self, known: Told, wanted: Wanted) -> dict[str, Any]:
        """The verdicts on some items, with notes, output and times. Raises Lost."""
        bench, until = self.bench, time.monotonic() + SLICE
        bench.know(known["probed"])
        bench.lost = [*map(Crash.from_json, known["crashes"])]
        settled = {(number, dtype): How(grade, few) for number, dtype, grade, few in wanted}
        bench.plan, bench.notes, bench.crashes = Plan([*settled], settled=settled), {}, []
        while bench.plan.waiting or self.crew.busy:
            if time.monotonic() < until:
                bench.hand_out([*bench.plan.waiting])
            if not self.crew.busy:
                break
            self._step()
        spent, self.crew.spent = self.crew.spent, dict.fromkeys(PARTS, 0.0)
        return {
            "verdicts": [verdict_to_json(verdict) for verdict in bench.plan.verdicts.values()],
            "notes": [(note, [*settled][place]) for note, place in bench.notes.items()],
            "crashes": bench.crashes,
            "printed": self.crew.stock.printed.taken(),
            "spent": spent,
        }

    def rest(self) -> None:
        """Mark the station as idle; end its children after a while, or if the run is over."""
        with _lock:
            ended = self.run in _ended
            if not ended:
                _idle.append(self)
        if ended:
            self.crew.disband()
            return
        self.leaving = threading.Timer(IDLE, self.close)
        self.leaving.daemon = True
        self.leaving.start()

    def wake(self) -> bool:
        """Mark the station as busy; False if it was busy already."""
        with _lock:
            if self not in _idle:
                return False
            _idle.remove(self)
        if self.leaving is not None:
            self.leaving.cancel()
        return True

    def close(self) -> None:
        """End all children, unless they are at work."""
        if self.wake():
            self.crew.disband()

    def _step(self) -> None:
        """Wait for one message, or until a child counts as hanging."""
        try:
            child, message = self.crew.messages.get(timeout=self.crew.until_overdue())
        except queue.Empty:
            for late in self.crew.overdue():
                self._gone(late)
            return
        if not isinstance(child, Child) or child not in self.crew.children:
            return
        if message is None:
            self._gone(child)
        elif (word := turn(child, message)) == "unsuitable":
            raise Lost(message["unsuitable"])
        elif word == "loaded":
            self._loaded(child, message["loaded"])
        else:
            self.bench.heard(child, message)

    def _loaded(self, child: Child, copied: bool) -> None:
        """From now on, fork the first child; if it cannot be forked, it judges itself."""
        if self.crew.loaded(child, copied):
            self.loaded = True
            self.crew.stock.printed.taken()  # it was printed at home as well
            if not copied:
                self.crew.children.remove(child)
                self.crew.spare = child

    def _gone(self, child: Child) -> None:
        why = self.bench.gone(child)
        if child.item is None and not child.idle:
            raise Lost(f"while it was loaded {why}")


_idle: list[Station] = []
_ended = deque[str](maxlen=100)  # runs that have ended, in this process
_lock = threading.Lock()


def judge(told: Told, known: Told | None, wanted: Wanted, _ticket: str) -> dict[str, Any]:
    """A task: the verdicts on some items, as JSON. known: the results of probing, if there are any.

    told: the run, and the facts that make the target the same here. Raises Lost, and OSError if the
    machine cannot start another process.
    """
    _same(told, known)
    station = _taken(told)
    try:
        station.load()
        found = {} if known is None else station.judged(known, wanted)
    except BaseException:
        station.crew.disband()
        raise
    station.rest()
    return found


def dismiss(run: str) -> None:
    """End the children of a run in this process."""
    with _lock:
        _ended.append(run)
    for station in [*_idle]:
        if station.run == run:
            station.close()


def _taken(told: Told) -> Station:
    """An idle station of a run, or a new one that replaces idle stations of other runs."""
    for station in [*_idle]:
        if station.run == told["run"] and station.wake():
            return station
    for station in [*_idle]:
        if station.run != told["run"]:
            station.close()
    place = Place(told["folder"], tuple(told["paths"]))
    return Station(told["run"], Request.from_json(told["request"]), place)


def _same(told: Told, known: Told | None) -> None:
    """Raise Lost if the specification or the versions of libraries differ."""
    if told["edition"] != edition():
        raise Lost("the specification is another one there")
    if known is None:
        return
    there = {name: x for name, x in known["versions"].items() if name != GPU}  # is unknown here yet
    if (here := versions(there)) != there:
        raise Lost(f"versions differ: {here}")
