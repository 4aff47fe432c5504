"""What is to be run, in which grade of rounding, and what came of it.

In a format of 16 bits an implementation may round as kernels do ("flash") or as a chain of
library calls does ("eager"), and be right. What is granted in such a format is the strictest
grade in which every clause holds that holds in any: a clause that is broken is put anew in the
next grade that explains the problem which broke it (`judging.judged`), and where it then holds,
that grade is granted to all clauses that stand behind it. Once all were run, what was violated in
a stricter grade than the one that is granted is run again in that, until no violation is left of
another: what a certificate prints, the counterexample, its numbers and its script, is wrong in
the very grade that it names. What held in a stricter grade still does, and is not run again. A
violation that could not be run again, as the run was stopped, is none: its clause is blocked.

Items may be run side by side, and come to an end in any order. What they come to is what it would
be if each had waited for those that stand before it: whoever was begun in another grade than they
need is run again, and where the run is stopped at an item, nothing counts that stands behind it.

Where the first violation ends it all, each item is looked at first, on a few of its problems; then
each that holds on these is run in full, which is what counts of it: first those with most problems,
as what a look at everything did not show is rare, and is seen by who puts many.

In order is as `in_turn` has them, which need not be as they are read: the grade that is granted
in the end is the least strict that any clause needs, wherever that stands.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from math import inf
from typing import NamedTuple

from spec.certification.judging.verdict import Verdict, unrun
from spec.certification.settings import Request
from spec.clause import Clause
from spec.notation import GRADES, HALF, Grade
from spec.stream import Stream, seed_of

Item = tuple[str, str]  # the number of a clause, and a dtype
FEW = 4  # problems of a clause of effort 1 that are a look
ANSWERED = ("holds", "violated", "refused")  # to a look; more problems may say something else


class How(NamedTuple):
    """How an item is run: in which grade of rounding, and whether on a few problems alone."""

    grade: Grade = "strict"
    few: bool = False


class Plan:
    """The items of a survey in their order, and the verdicts so far.

    fail_fast: the first violation ends it. then: in what order items are run in full, all of which
    are looked at first; none is where it is empty. waiting: what is still to be begun. looked: what
    a look came to, if that is no end. reason: why the run was stopped, if it was. settled: how
    items are to be run, where that is said elsewhere; then none is run again.
    """

    def __init__(
        self,
        items: Sequence[Item],
        fail_fast: bool = False,
        then: Sequence[Item] = (),
        settled: Mapping[Item, How] | None = None,
    ) -> None:
        self.settled = settled
        self.place = {item: place for place, item in enumerate(items)}
        self.then = {item: place for place, item in enumerate(then, len(items))}
        self.waiting = [*items]
        self.fail_fast = fail_fast
        self.verdicts: dict[Item, Verdict] = {}
        self.looked: dict[Item, Verdict] = {}
        self.reason = ""
        self._begun: dict[Item, How] = {}
        self._end = 2 * len(items)
        self._in_order = True

    @staticmethod
    def of(items: Sequence[Item], request: Request, clauses: Mapping[str, Clause]) -> "Plan":
        """That of a request; there is no look where few problems are all."""
        looks = request.fail_fast and request.thoroughness.examples > FEW
        then = sorted(items, key=lambda item: -clauses[item[0]].effort) if looks else ()
        return Plan(items, request.fail_fast, then)

    def begin(self, item: Item) -> How:
        """How an item is to be run, which waits no more."""
        self.waiting.remove(item)
        self._begun[item] = how = self._how(item)
        return how

    def few(self, item: Item) -> bool:
        """Whether it is still to be looked at."""
        return item in self.then and item not in self.looked

    def note(self, verdict: Verdict) -> None:
        """The verdict on an item, unless it stands behind the end."""
        item = (verdict.clause, verdict.dtype)
        if self._turn(item) > self._end:
            return
        ends = self.fail_fast and verdict.outcome == "violated" and verdict.force == "must"
        if self.few(item) and verdict.outcome in ANSWERED and not ends:
            self.looked[item] = verdict
            self.give_back([item])
            return
        self.verdicts[item] = verdict
        if ends:
            self.stop(f"{verdict.clause} was violated and the run was to fail fast", item)

    def stop(self, reason: str, last: Item | None = None) -> None:
        """Begin nothing that stands behind the last item; where none is named, nothing at all."""
        if last is None:
            self.reason, self._in_order = reason, False
            self.waiting.clear()
        elif self._turn(last) < self._end:
            self.reason, self._end = reason, self._turn(last)
            self.waiting = [item for item in self.waiting if self._turn(item) < self._end]
            self._take_back([item for item in self.verdicts if self._turn(item) > self._end])

    def void(self, reason: str) -> None:
        """Have no verdict count, and begin nothing."""
        self.verdicts.clear()
        self.looked.clear()
        self.stop(reason)

    def give_back(self, items: Iterable[Item]) -> None:
        """Have items wait again that were begun in vain, if they still count."""
        if self.reason and self._end == 2 * len(self.place):  # nothing more is to be begun
            return
        again = (item for item in items if self._turn(item) <= self._end)
        self.waiting = sorted({*self.waiting, *again}, key=self._turn)

    def go_on(self) -> bool:
        """Whether anything waits, or has to be run again now that all else was."""
        if not self.waiting and self._in_order:
            ran = [item for item, verdict in self.verdicts.items() if verdict.ran]
            self._run_again([item for item in ran if self._begun[item] != self._how(item)])
            self._in_order = bool(self.waiting)
        if not self.waiting and not self.reason and self.settled is None:
            self._run_again(unsettled(self.verdicts.values()))
        return bool(self.waiting)

    def all(self, clauses: Mapping[str, Clause]) -> list[Verdict]:
        """A verdict on each item: those that were not run, or not in the end, are blocked."""
        left = {*unsettled(self.verdicts.values())}
        reason = self.reason or "it was not judged when this was written"
        blocked = {i: unrun(clauses[i[0]], i[1], "blocked", reason) for i in self.place}
        settled = {item: verdict for item, verdict in self.verdicts.items() if item not in left}
        every = {**blocked, **settled}
        spent = {item: every[item].after(look) for item, look in self.looked.items()}
        return [*{**every, **spent}.values()]

    def _turn(self, item: Item) -> int:
        """Its place among all that is run: what was looked at comes behind all looks."""
        return self.then[item] if item in self.looked else self.place[item]

    def _how(self, item: Item) -> How:
        """In the grade that those before it need, or, once these are settled, that all need."""
        if self.settled is not None:
            return self.settled[item]
        few, dtype = self.few(item), item[1]
        if dtype not in HALF:
            return How(few=few)
        turn = self._turn(item) if self._in_order else inf
        looks, every = _raised(self.looked, dtype), _raised(self.verdicts, dtype)
        before = [v for x, v in looks if self.place[x] < turn]
        before += [v for x, v in every if self._turn(x) < turn]
        return How(granted(before).get(dtype, "strict"), few)

    def _run_again(self, items: Iterable[Item]) -> None:
        """Have items wait again, in their order."""
        self.waiting = sorted(items, key=self._turn)
        self._take_back(self.waiting)

    def _take_back(self, items: Iterable[Item]) -> None:
        for item in items:
            del self.verdicts[item]


def in_turn(
    items: Iterable[Item], clauses: Mapping[str, Clause], definition: str, request: Request
) -> tuple[Item, ...]:
    """Items, given as they are read, in the order in which they are run.

    The definition is run after what was selected beside it, if it is named last (as it is where
    nobody selected it). Under a budget it is first, and all else comes by chance, so that what is
    judged in a short time is a little of everything; what is drawn for an item depends on the
    seed and on itself alone, as then others stay in their order when a fault is mended. Where the
    first violation ends it all, what tells most mistakes comes first, format by format.
    """
    read, last = [*items], (request.clauses or ())[-1:] == (definition,)
    formats = [*dict.fromkeys(dtype for _, dtype in read)]
    told = telling(clauses.values(), definition) if request.fail_fast else []

    def place(number: str, dtype: str) -> float:
        if request.budget is not None:
            chance = Stream(seed_of(f"{request.seed} {number} {dtype}")).random()
            return -1.0 if number == definition else chance
        return formats.index(dtype) * len(told) + told.index(number) if told else 0.0

    return tuple(sorted(read, key=lambda item: (last and item[0] == definition, place(*item))))


def telling(clauses: Iterable[Clause], definition: str) -> list[str]:
    """The numbers of clauses: after the definition those that name many mistakes, at least cost.

    Of mistakes that none before names. Of clauses alike in that, the first that is read.
    """
    read, found, known = [*clauses], list[str](), set[str]()

    def turn(place: int) -> tuple[bool, float, int]:
        c = read[place]
        return c.number != definition, -len(c.catches - known) / c.effort, place

    left = [turn(place) for place in range(len(read))]
    heapify(left)
    while left:
        *_, place = left[0]
        if (now := turn(place)) != left[0]:  # it tells less than it did, and none tells more
            heapreplace(left, now)
            continue
        heappop(left)
        found.append(read[place].number)
        known |= read[place].catches
    return found


def _raised(verdicts: Mapping[Item, Verdict], dtype: str) -> list[tuple[Item, Verdict]]:
    """Those in a dtype that need another grade than all have anyway."""
    return [(x, v) for x, v in verdicts.items() if v.rounding != GRADES[0] and x[1] == dtype]


def granted(verdicts: Iterable[Verdict]) -> Mapping[str, Grade]:
    """The grade of each dtype of 16 bits in which a clause was run: the least strict of all."""
    grades: dict[str, Grade] = {}
    for verdict in verdicts:
        if verdict.dtype in HALF and verdict.ran:
            known = grades.get(verdict.dtype, "strict")
            grades[verdict.dtype] = max(known, verdict.rounding, key=GRADES.index)
    return grades


def unsettled(verdicts: Iterable[Verdict]) -> list[Item]:
    """The clause and dtype of each violation in a stricter grade than the one that is granted."""
    found = list(verdicts)
    grades = granted(found)
    violated = [v for v in found if v.outcome == "violated" and v.ran and v.dtype in grades]
    return [(v.clause, v.dtype) for v in violated if v.rounding != grades[v.dtype]]
