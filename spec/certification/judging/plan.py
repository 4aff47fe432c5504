"""The items to run, the rounding model of each, and the verdicts.

In 16 bits an implementation may round as kernels do ("flash") or as a chain of library calls does
("eager"), and be right. Each format is granted the strictest rounding model (`grade`) in which all
clauses pass that pass in any. A clause that fails is run again in the next model that explains the
failing problem (`judging.judged`). If it passes, this model is granted to all clauses after it.
When all were run, failures in a stricter model than the one granted are run again, until there are
none. So the counterexample in a certificate, its numbers and its script are wrong in the very model
that it names. A clause that passed in a stricter model still passes, and is not run again. A
failure that could not be run again, as the run was stopped, does not count: its clause is blocked.

Items may run at the same time, and end in any order. The verdicts are the same as if each had
waited for those before it: an item that began in another model than the one it needs is run again,
and if the run is stopped at an item, no later item counts.

With `--fail-fast` each item is first run on a few of its problems. Those that pass are then run in
full, which is what counts: first the items with most problems, as a failure that no short run
showed is rare.

The order of items is that of `in_turn`. The reading order may differ: the model that is granted in
the end is the least strict that any clause needs, wherever it stands.
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
    """How an item is run: in which rounding model, and whether on a few problems only."""

    grade: Grade = "strict"
    few: bool = False


class Plan:
    """The items of a survey in their order, and the verdicts so far.

    fail_fast: the first failure ends the run. then: the order of full runs after short ones; empty
    if there are no short runs. waiting: items not yet begun. looked: verdicts of short runs that do
    not end the run. reason: why the run was stopped, if it was. settled: how items are to be run,
    if that is decided elsewhere; then none is run again.
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
        """The plan of a request; without short runs if all runs are short."""
        looks = request.fail_fast and request.thoroughness.examples > FEW
        then = sorted(items, key=lambda item: -clauses[item[0]].effort) if looks else ()
        return Plan(items, request.fail_fast, then)

    def begin(self, item: Item) -> How:
        """Take an item off those that wait; return how it is run."""
        self.waiting.remove(item)
        self._begun[item] = how = self._how(item)
        return how

    def few(self, item: Item) -> bool:
        """Whether an item still needs a short run."""
        return item in self.then and item not in self.looked

    def note(self, verdict: Verdict) -> None:
        """Record a verdict, unless its item comes after the end."""
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
        """Begin no item after the last one; none at all if no last item is given."""
        if last is None:
            self.reason, self._in_order = reason, False
            self.waiting.clear()
        elif self._turn(last) < self._end:
            self.reason, self._end = reason, self._turn(last)
            self.waiting = [item for item in self.waiting if self._turn(item) < self._end]
            self._take_back([item for item in self.verdicts if self._turn(item) > self._end])

    def void(self, reason: str) -> None:
        """Drop all verdicts, and begin no more items."""
        self.verdicts.clear()
        self.looked.clear()
        self.stop(reason)

    def give_back(self, items: Iterable[Item]) -> None:
        """Let items wait again that were begun in vain, if they still count."""
        if self.reason and self._end == 2 * len(self.place):  # nothing more is to be begun
            return
        again = (item for item in items if self._turn(item) <= self._end)
        self.waiting = sorted({*self.waiting, *again}, key=self._turn)

    def go_on(self) -> bool:
        """Whether an item waits, or has to be run again when all others are done."""
        if not self.waiting and self._in_order:
            ran = [item for item, verdict in self.verdicts.items() if verdict.ran]
            self._run_again([item for item in ran if self._begun[item] != self._how(item)])
            self._in_order = bool(self.waiting)
        if not self.waiting and not self.reason and self.settled is None:
            self._run_again(unsettled(self.verdicts.values()))
        return bool(self.waiting)

    def all(self, clauses: Mapping[str, Clause]) -> list[Verdict]:
        """A verdict on each item; `blocked` for those without a final run."""
        left = {*unsettled(self.verdicts.values())}
        reason = self.reason or "it was not judged when this was written"
        blocked = {i: unrun(clauses[i[0]], i[1], "blocked", reason) for i in self.place}
        settled = {item: verdict for item, verdict in self.verdicts.items() if item not in left}
        every = {**blocked, **settled}
        spent = {item: every[item].after(look) for item, look in self.looked.items()}
        return [*{**every, **spent}.values()]

    def _turn(self, item: Item) -> int:
        """Its position among all runs: full runs come after all short ones."""
        return self.then[item] if item in self.looked else self.place[item]

    def _how(self, item: Item) -> How:
        """In the rounding model that earlier items need, or, at the end, that all need."""
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
        """Let items wait again, in their order."""
        self.waiting = sorted(items, key=self._turn)
        self._take_back(self.waiting)

    def _take_back(self, items: Iterable[Item]) -> None:
        for item in items:
            del self.verdicts[item]


def in_turn(
    items: Iterable[Item], clauses: Mapping[str, Clause], definition: str, request: Request
) -> tuple[Item, ...]:
    """Items, given in reading order, in the order in which they are run.

    If the definition is named last (as when nobody selected it), it is run after the selected
    clauses. With a time limit it is first, and the others come in random order, so that a short
    time covers a little of everything. The random number of an item depends on the seed and the
    item alone, so that others keep their order when a fault is fixed. With `--fail-fast`, clauses
    that reject the most known bugs come first, format by format.
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
    """The numbers of clauses: the definition, then those that reject most bugs per cost.

    Bugs that an earlier clause rejects do not count. Of equal clauses, the first one read comes
    first.
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
    """The items in a dtype that need another rounding model than the strictest."""
    return [(x, v) for x, v in verdicts.items() if v.rounding != GRADES[0] and x[1] == dtype]


def granted(verdicts: Iterable[Verdict]) -> Mapping[str, Grade]:
    """The rounding model of each 16-bit dtype in which a clause ran: the least strict of all."""
    grades: dict[str, Grade] = {}
    for verdict in verdicts:
        if verdict.dtype in HALF and verdict.ran:
            known = grades.get(verdict.dtype, "strict")
            grades[verdict.dtype] = max(known, verdict.rounding, key=GRADES.index)
    return grades


def unsettled(verdicts: Iterable[Verdict]) -> list[Item]:
    """The items of failures in a stricter rounding model than the one that is granted."""
    found = list(verdicts)
    grades = granted(found)
    violated = [v for v in found if v.outcome == "violated" and v.ran and v.dtype in grades]
    return [(v.clause, v.dtype) for v in violated if v.rounding != grades[v.dtype]]
