"""Those that judge: children are handed the items of a plan, one at a time, and may die of it.

A child that dies or falls silent leaves the verdict `crashed` on its clause, and a new child goes
on with the rest. Who probes, or looks for causes, is no business of the bench.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spec.certification.isolation.child import Child
from spec.certification.isolation.copying import leaving
from spec.certification.isolation.crew import Crew
from spec.certification.isolation.guard import Crash
from spec.certification.isolation.protocol import read, read_verdict
from spec.certification.judging.plan import Item, Plan
from spec.certification.judging.verdict import INTERFERED, Verdict, unrun
from spec.certification.target.cost import Cost
from spec.clause import Clause
from spec.printable import printable

Report = Callable[[Verdict, int, int], None]


class Workbench:
    """The children of a crew that judge, and what they came to.

    lost: the crashes while the target was probed; probed: what probing found. plan: what is to be
    judged. notes: those of all children, each once, with its place. crashes: the items of which a
    process died.
    """

    def __init__(self, crew: Crew, clauses: Mapping[str, Clause]) -> None:
        self.crew, self.clauses = crew, clauses
        self.report: Report = lambda *_: None
        self.announce: Callable[[str], None] = lambda _: None
        self.step: Callable[[str], None] = lambda _: None
        self.hint: Callable[[str], None] = lambda _: None
        self.lost: list[Crash] = []
        self.probed: Mapping[str, Any] | None = None
        self.plan = Plan(())
        self.notes: dict[str, int] = {}
        self.crashes: list[Item] = []

    def know(
        self, probed: Mapping[str, Any], cost: tuple[int, float, float, float] | None = None
    ) -> None:
        """What probing found; who compiles has more time from now on. cost: of compiling."""
        self.probed = probed
        if cost is not None:
            self.announce(str(Cost(*cost)))
        self.crew.compiles |= any(left["palette"] for left in probed["by_dtype"].values())

    def hand_out(self, items: Iterable[Item]) -> None:
        """Give items that wait to children, as many at a time as may be."""
        for item in items:
            if self.crew.busy >= self.crew.most:
                return
            child = self._free(item)
            if child is not None:
                child.run(item, self.plan.begin(item))

    def heard(self, child: Child, message: Mapping[str, Any]) -> None:
        """What a child says that probes, judges, or looks for causes. Raises Interfered."""
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
            self.hint(f"first cause: {printable(message['first'])}")
        else:
            self.crew.answering(child)

    def gone(self, child: Child) -> str:
        """A child died: its clause crashed, unless it had its verdict already. Returns why."""
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

    def void(self, why: str) -> None:
        """The target interferes: nothing counts of what it came to."""
        self.plan.void(f"{INTERFERED}: {why}")
        self.notes.clear()

    def note(self, verdict: Verdict) -> None:
        """A verdict, or the same one with its example."""
        plan, known = self.plan, len(self.plan.verdicts) + len(self.plan.looked)
        plan.note(verdict)
        if len(plan.verdicts) + len(plan.looked) > known:
            self.report(verdict, len(plan.verdicts), len(plan.place))

    def say(self, note: str, item: Item) -> None:
        """What else was seen while an item was judged: of one that was seen before, the first."""
        place = self.plan.place[item]
        self.notes[note] = min(place, self.notes.get(note, place))

    def in_vain(self, why: str) -> None:
        """Note why causes were looked for in vain, if they were."""
        if why:
            note = f"causes were looked for in vain: {printable(why)}"
            self.notes.setdefault(note, len(self.plan.place))

    def _judged(self, child: Child, verdict: Verdict, after: float | None) -> None:
        """A child has a verdict. after: seconds of the target since, if nothing else is to come."""
        part, known = ("reduction", {}) if child.judged else ("elsewhere", {**verdict.seconds})
        known["implementation"] = known.get("implementation", 0.0) + (after or 0.0)
        self.crew.count(part, child, known)
        child.judged, child.item = True, child.item if after is None else None
        self.note(verdict)

    def _free(self, item: Item) -> Child | None:
        """A child of the sort that an item is put to, with nothing to do; a new one if need be."""
        sort = self.crew.sort(self.clauses[item[0]])
        child = self.crew.waiting(sort)
        if child is None and self.crew.lacks(sort):
            child = self.crew.child()
            child.begin(self.lost, self.probed, sort)
        return child
