"""Few programs, many numbers: what a target is asked that compiles a program for each shape.

A palette is some numbers, each of which stands for all that is picked where a problem is drawn
(`choices.Numbered`): for shapes and options, and for no entry of an array. A clause is given some
of them, one more in each round, as long as there are programs left: what shows most that it was
not shown, two by two of the words for problems, for the fewest programs. What a clause asks for,
whatever it makes of a problem, is seen by judging the definition; and what was asked for already,
by whichever clause, costs nothing.
"""

import math
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.certification.judging.drawing import drawn
from spec.certification.judging.judging import scope_for
from spec.certification.settings import Profile
from spec.certification.target.probing import Probed
from spec.clause import Clause
from spec.comparison import Violation
from spec.kind import Kind
from spec.notation import Array
from spec.sizes import Reach
from spec.subject import Backward, Refused, Subject
from spec.trial import asked
from spec.written import arrays, optional

TRIED = 3  # small shapes that were slow at first, or one more that were not, tell
# Of the processor: what waits for others is not slow.
SLOW, TIMES = 0.02, 3.0  # seconds of a first call, which is so many times the second
AMONG = 8  # times as many numbers are looked at as a palette has
WHY = (
    "compiles for each shape, and is asked in {} of them",
    "is compiled, and is asked in {} shapes",
)
CLAUSES = 130  # that the programs of a profile are meant for; each further one adds one
AT_FIRST = 6  # shapes of the definition's clause, before what each clause needs has used all up
CHEAP = 0.05  # of a program: what is asked for already is not worth more than this

Shapes = tuple[Any, ...]  # of arrays by name, and all options
Asked = frozenset[tuple[str, Shapes]]  # a function, and what it is asked


def planned(
    kind: Kind,
    clauses: Mapping[str, Clause],
    probed: Probed,
    profile: Profile,
    seed: int,
    beat: Callable[[], None],
) -> Probed:
    """What is left to judge, with palettes if it compiles: the same where it answers the same.

    clauses: all of them by number. beat: is called before each clause. What is judged as compiled
    compiles, in whichever way: one that takes any shape has a program for each set of options.
    """
    first = clauses.get(kind.definition)
    found: dict[str, Subject] = {}
    known: dict[Any, Mapping[str, tuple[int, ...]]] = {}
    notes: dict[str, None] = {}
    for dtype, subject in probed.by_dtype.items():
        planner = Planner(kind, subject, first, profile, seed, beat) if first else None
        if planner is None or not (found or subject.compiled or planner.compiles()):
            return probed
        bound = [clause for clause in clauses.values() if clause.binds(subject)]
        key = subject.answers, subject.differentiates, *sorted(subject.multiples.items())
        if key not in known:
            known[key] = planner.palette(bound)
            notes[WHY[bool(subject.compiled)].format(planner.shapes)] = None
        found[dtype] = subject.but(palette=known[key])
    return replace(probed, by_dtype=found, notes=(*probed.notes, *notes))


@dataclass
class Given:
    """What a clause can be given, and what it is.

    asked: what it then asks for, by shape; said: the features of its problem, a row for each.
    unseen: pairs of features that no problem of a shape which it was given has.
    """

    clause: Clause
    asked: Mapping[int, Asked]
    said: Array
    unseen: Array
    shapes: list[int] = field(default_factory=list)

    def gains(self) -> Mapping[int, float]:
        """How much would be seen for the first time in each other shape, if anything would."""
        new = ((self.said @ self.unseen) * self.said).sum(axis=1)
        pairs = zip(self.asked, new.tolist(), strict=True)
        return {shape: gain for shape, gain in pairs if gain and shape not in self.shapes}

    def give(self, shape: int) -> None:
        """Note that it was given another shape."""
        row = self.said[[*self.asked].index(shape)]
        self.unseen = self.unseen * (1 - np.outer(row, row))
        self.shapes.append(shape)


class Planner:
    """What the clauses of a kind ask of a subject in a format, and which shapes they are given.

    profile, seed: of the run. known: what is asked so far.
    """

    def __init__(
        self,
        kind: Kind,
        subject: Subject,
        first: Clause,
        profile: Profile,
        seed: int,
        beat: Callable[[], None],
    ) -> None:
        self.kind, self.subject, self.first = kind, subject, first
        (self.dtype,) = subject.dtypes
        self.profile, self.seed, self.beat = profile, seed, beat
        self.truth = kind.truth()
        self.known: set[tuple[str, Shapes]] = set()
        self.left = profile.programs
        self.wanted = Counter[tuple[str, Shapes]]()  # by how many clauses
        self.twice = {name for what, name in subject.offering.items() if what in {*Backward}}

    @property
    def shapes(self) -> int:
        """How many shapes and options are asked for so far."""
        return len({shapes for _, shapes in self.known})

    def compiles(self) -> bool:
        """Whether what is asked of a shape for the first time takes far longer than again.

        Of shapes by chance, as in this process many may have been asked before; and of small ones,
        as nobody knows yet what becomes of others.
        """
        slow = fast = 0
        while slow < TRIED and fast <= TRIED:
            is_slow = self._is_slow_at_first(secrets.randbits(64))
            slow, fast = slow + is_slow, fast + (not is_slow)
        return slow == TRIED

    def palette(self, clauses: Collection[Clause]) -> Mapping[str, tuple[int, ...]]:
        """The shapes of each of these clauses, those that show most first."""
        self.left += max(0, len(clauses) - CLAUSES)
        numbers = self._telling()
        every = [self._given(clause, numbers) for clause in clauses]
        for given in every:
            self.wanted.update({x for several in given.asked.values() for x in several})
        compared = {number for numbers in self.kind.compares.values() for number in numbers}
        for given in (x for x in every if x.clause is self.first):
            for _ in range(AT_FIRST):
                self._one_more(given)
        for given in every:
            self._one_more(given)
        for _ in range(self.profile.examples):
            for given in every:
                for _ in range(given.clause.effort if given.clause.number in compared else 1):
                    self._one_more(given)
        return {given.clause.number: tuple(given.shapes) for given in every}

    def _one_more(self, given: Given) -> None:
        """Give a clause what shows most for the fewest programs, if they are left.

        At first it is given something in any case: if they are not, of what costs least.
        """
        gains = given.gains()
        prices = {shape: self._price(given.asked[shape]) for shape in gains}
        least = 0 if given.shapes else min(prices.values(), default=0)
        affordable = {x: p for x, p in prices.items() if p <= max(self.left, least)}
        if not affordable:
            return

        def worth(shape: int) -> float:
            new = given.asked[shape] - self.known
            others = min((self.wanted[x] for x in new), default=1) if not given.shapes else 1
            return gains[shape] * math.sqrt(others) / (CHEAP + affordable[shape])

        shape = max(affordable, key=worth)
        self.left -= affordable[shape]
        self.known |= given.asked[shape]
        given.give(shape)

    def _price(self, wanted: Asked) -> int:
        """How many programs are new: where gradients are asked for, two."""
        return sum(2 if name in self.twice else 1 for name, _ in wanted - self.known)

    def _telling(self) -> list[int]:
        """Numbers that show most of what there is to the definition, the simplest first."""
        chance = random.Random(f"{self.seed} palette")
        numbers = [0, *(chance.getrandbits(64) for _ in range(AMONG * self.profile.palette))]
        rows = [self.kind.features.said(self._problem(self.first, x, x)) for x in numbers]
        said = np.array(rows, dtype=np.float32)
        shown = Given(self.first, dict.fromkeys(numbers, frozenset()), said, _all_pairs(said))
        shown.give(numbers[0])
        while len(shown.shapes) < self.profile.palette and (gains := shown.gains()):
            shown.give(max(gains, key=gains.__getitem__))
        return shown.shapes

    def _given(self, clause: Clause, numbers: Sequence[int]) -> Given:
        """Nothing yet, of all that a clause can be given."""
        self.beat()
        seen, rows = {}, []
        for shape in numbers:
            number = random.Random(f"{self.seed} {clause.number} {shape}").getrandbits(64)
            problem = self._problem(clause, number, shape)
            seen[shape] = self._asked(clause, problem)
            rows.append(self.kind.features.said(problem))
        said = np.array(rows, dtype=np.float32)
        return Given(clause, seen, said, _all_pairs(said))

    def _asked(self, clause: Clause, problem: Any) -> Asked:
        """What a clause asks for about a problem, of whoever answers it."""
        made = asked(clause, self.truth, problem)
        return frozenset((name, (*shapes_of(put), rest)) for name, put, rest in made)

    def _problem(self, clause: Clause, number: int, shape: int, reach: Reach | None = None) -> Any:
        reach = reach or self.profile.name
        scope = scope_for(clause, self.subject, self.dtype, "strict", reach)
        return drawn(clause, scope, number, shape)

    def _is_slow_at_first(self, shape: int) -> bool:
        problem, seconds = self._problem(self.first, shape, shape, "small"), []
        for _ in range(2):
            start = time.process_time()
            try:
                self.kind.put(self.subject, self.kind.first, problem)
            except (Refused, Violation):
                return False
            seconds.append(time.process_time() - start)
        return seconds[0] > max(SLOW, TIMES * seconds[1])


def shapes_of(problem: Any) -> Shapes:
    """What a program is compiled for that a problem is put to: shapes and options."""
    shapes = [(name, x.shape, x.dtype == bool) for name, x in arrays(problem).items()]
    options = ((name, getattr(problem, name)) for name, _ in optional(problem.__class__))
    plain = [(name, x) for name, x in options if not isinstance(x, np.ndarray)]
    return (*shapes, *plain)


def _all_pairs(said: Array) -> Array:
    return np.ones((said.shape[1],) * 2, dtype=said.dtype)
