"""The children that judge: each gets one item of the plan at a time, and may die of it.

If a child dies or hangs, its clause has the verdict `crashed`, and a new child continues with the
rest. The workbench does not order children to probe or to look for causes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from spec.certification.isolation.child import Child
from spec.certification.isolation.copying import leaving
from spec.certification.isolation.crew import Crew
from spec.certification.isolation.guard import Crash
from spec.certification.isolation.protocol import read, read_first, read_verdict
from spec.certification.judging.cause import Heard
from spec.certification.judging.plan import Item, Plan
from spec.certification.judging.verdict import INTERFERED, Verdict, unrun
from spec.certification.target.cost import Cost
from spec.clause import Clause
from spec.printable import printable

Report = Callable[[Verdict, int, int], None]


class Workbench:
    """The children of a crew that judge, and their results.

    lost: crashes during probing. probed: the results of probing. plan: the items to judge. notes:
    the notes of all children, each once, with its position. crashes: the items that ended a
    process. deviating: clauses that are known to fail.
    """

    def __init__(self, crew: Crew, clauses: Mapping[str, Clause]) -> None:
        self.crew, self.clauses = crew, clauses
        self.report: Report = lambda *_: None
        self.announce: Callable[[str], None] = lambda _: None
        self.step: Callable[[str], None] = lambda _: None
        self.hint: Heard = lambda _: None
        self.hinted = False  # the first cause was told
        self.lost: list[Crash] = []
        self.probed: Mapping[str, Any] | None = None
        self.plan = Plan(())
        self.notes: dict[str, int] = {}
        self.crashes: list[Item] = []
        self.deviating: Collection[str] = ()

    def know(
        self, probed: Mapping[str, Any], cost: tuple[int, float, float, float] | None = None
    ) -> None:
        """Record the results of probing; compiled targets get more time. cost: of compiling."""
        self.probed = probed
        if cost is not None:
            self.announce(str(Cost(*cost)))
        self.crew.compiles |= any(left["palette"] for left in probed["by_dtype"].values())

    def hand_out(self, items: Iterable[Item]) -> None:
        """Give waiting items to children, as many as may work at a time."""
        for item in items:
            if self.crew.busy >= self.crew.most:
                return
            child = self._free(item)
            if child is not None:
                child.run(item, self.plan.begin(item))

    def heard(self, child: Child, message: Mapping[str, Any]) -> None:
        """Record a message of a child at work. Raises Interfered."""
        if "probing" in message:
            read(lambda: child.probing(message["probing"]), "probing")
            if self.probed is None:
                self.step(printable(child.doing))
        elif "verdict" in message:
            looks = self.crew.request.fail_fast
            verdict = read_verdict(child, message, self.clauses, looks)
            self._judged(child, verdict, message.get("after"))
            for note in message.get("notes", ()):
                self.say(note, (verdict.clause, verdict.dtype))
        elif "first" in message:
            child.judged = True
            cause = read_first(message)
            if not self.hinted:
                self.hint(cause)
            self.hinted = True
        else:
            self.crew.answering(child)

    def gone(self, child: Child) -> str:
        """Record that a child died, with a crash of its clause if open; return the reason."""
        if not child.hung:
            leaving(child.process)
        self.crew.let_go(child)
        if child.idle:
            return ""
        why = f"{child.fate()}{child.last_asked}{child.last_words}"
        if child.item in self.plan.place:
            self.crashes.append(child.item)
            if child.item not in self.plan.verdicts:
                number, dtype = child.item
                self.note(unrun(self.clauses[number], dtype, "crashed", why))
        return why

    def interfered(self, why: str) -> None:
        """Begin no more items. Verdicts stand if the target shares no process with their judge.

        If all items have one, none stands: something must show that the run has no result.
        """
        reason = f"{INTERFERED}: {why}"
        if self.crew.request.apart and not self.plan.verdicts.keys() >= self.plan.place.keys():
            self.plan.stop(reason)
        else:
            self.plan.void(reason)
            self.notes.clear()

    def note(self, verdict: Verdict) -> None:
        """Record a verdict, or the same verdict with its counterexample."""
        plan, known = self.plan, len(self.plan.verdicts) + len(self.plan.looked)
        plan.note(verdict)
        if len(plan.verdicts) + len(plan.looked) > known:
            if verdict.clause in self.deviating and verdict.outcome == "violated":
                verdict = replace(verdict, outcome="deviates")
            self.report(verdict, len(plan.verdicts), len(plan.place))

    def say(self, note: str, item: Item) -> None:
        """Record a note about an item; of equal notes, the one of the first item is kept."""
        place = self.plan.place[item]
        self.notes[note] = min(place, self.notes.get(note, place))

    def in_vain(self, why: str) -> None:
        """Add a note why the search for causes failed, if it did."""
        if why:
            note = f"causes were looked for in vain: {printable(why)}"
            self.notes.setdefault(note, len(self.plan.place))

    def _judged(self, child: Child, verdict: Verdict, after: float | None) -> None:
        """Record a verdict. after: seconds of the target since then, if it is the last part."""
        part, known = ("reduction", {}) if child.judged else ("elsewhere", {**verdict.seconds})
        known["implementation"] = known.get("implementation", 0.0) + (after or 0.0)
        self.crew.count(part, child, known)
        child.judged, child.item = True, child.item if after is None else None
        self.note(verdict)

    def _free(self, item: Item) -> Child | None:
        """An idle child of the sort that an item needs, a new one if necessary, or None."""
        sort = self.crew.sort(self.clauses[item[0]])
        child = self.crew.waiting(sort)
        if child is None and self.crew.lacks(sort):
            child = self.crew.child()
            child.begin(self.lost, self.probed, sort)
        return child
