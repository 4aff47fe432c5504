"""Few shapes, many numbers: how a target that compiles for each shape is tested.

A palette is a few numbers. Each stands for all shapes and options that are picked when a problem is
drawn (`choices.Numbered`), but for no entry of an array. Clauses get shapes in rounds, one each, as
long as there are programs left. Each time a clause gets the shape that shows the most new pairs of
features and of known bugs that the clause names, per new program. The calls that a clause makes are
found by running it on the definition. Calls that another clause makes already cost nothing. If a
target is judged on some problems only, all numbers stand for such problems.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from spec.backends.compiled import of_jax
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.drawing import drawn
from spec.certification.judging.given import Asked, Calls, Given, Shapes, programs_of
from spec.certification.judging.judging import scope_for
from spec.certification.profiles import Profile
from spec.clause import Clause
from spec.comparison import Violation
from spec.features import Test
from spec.kind import Kind
from spec.sizes import Reach
from spec.stream import Stream, seed_of
from spec.subject import Backward, Refused, Subject
from spec.trial import asked

TRIED = 3  # small shapes that were slow at first, or one more that were not, tell
# Of the processor: what waits for others is not slow.
SLOW, TIMES = 0.02, 3.0  # seconds of a first call, which is so many times the second
# A process asks for each of them once, as a target that compiles keeps what it has compiled. They
# are the same in each process, as a target may remember what it was asked.
LOOKED_AT = 100  # new problems, for one within the bounds of the run
NEW_SHAPES = Stream(seed_of("shapes that no target was asked for"))
AMONG = 8  # times as many numbers are looked at as a palette has
CLAUSES = 140  # that the programs of a profile are meant for; each further one adds one
AT_FIRST = 6  # shapes of the definition's clause, before what each clause needs has used all up
CHEAP = 0.05  # of a program: what is asked for already is not worth more than this


class Planner:
    """The calls that the clauses of a kind make in a format, and the shapes that they get.

    profile, seed: of the run. bounds: the problems on which the target is judged. wrong: the
    condition of each known bug that declares one. known: the calls planned so far.
    """

    def __init__(
        self,
        kind: Kind,
        subject: Subject,
        first: Clause,
        profile: Profile,
        seed: int,
        bounds: Bounds,
        beat: Callable[[], None],
    ) -> None:
        self.kind, self.subject, self.first, self.bounds = kind, subject, first, bounds
        self.functions = kind.functions
        (self.dtype,) = subject.dtypes
        self.profile, self.seed, self.beat = profile, seed, beat
        self.truth = kind.truth()
        self.groups = {kind.functions.group(name) for name in self.truth.offered}
        self.known: set[tuple[str, Shapes]] = set()
        self.left = profile.programs
        self.given: list[tuple[str, int, int]] = []  # to a clause: a shape, and its new programs
        self.every: Sequence[Given] = ()  # what each clause can be given
        self.pace = 0.0  # seconds that a program takes, once it was timed
        self.wanted = Counter[tuple[str, Shapes]]()  # by how many clauses
        every = kind.mistakes.items()
        self.wrong = {name: kind.features.sentence(m.where) for name, m in every if m.where}
        self.twice = {name for what, name in subject.offering.items() if what in {*Backward}}

    @property
    def shapes(self) -> int:
        """The number of different shapes and options so far."""
        return len({shapes for _, shapes in self.known})

    @property
    def spent(self) -> int:
        """The number of programs that are planned."""
        return sum(price for _, _, price in self.given)

    def compiles(self) -> bool:
        """Whether the first call of a shape takes far longer than the second.

        Small shapes are tried that this process has not called before, as nothing is known of
        others.
        """
        slow = fast = 0
        while slow < TRIED and fast <= TRIED:
            problem = self.fresh()
            (seconds, made), (again, more) = self._timed(problem), self._timed(problem)
            self.pace = max(self.pace, seconds)
            if made > more:  # the compiler tells, so that no clock need be asked
                return True
            is_slow = seconds > max(SLOW, TIMES * again)
            slow, fast = slow + is_slow, fast + (not is_slow)
        return slow == TRIED

    def fresh(self) -> Any:
        """A small problem of the definition, in shapes that this process has not called.

        It lies within the bounds of the run, unless hardly any does.
        """
        for _ in range(LOOKED_AT):
            problem = self._problem(self.first, shape := NEW_SHAPES.word(), shape, "small")
            if self.bounds.has(problem, ""):
                break
        return problem

    def palette(self, clauses: Collection[Clause]) -> Mapping[str, tuple[int, ...]]:
        """The shapes of each of these clauses, those that show most first."""
        self.left += max(0, len(clauses) - CLAUSES)
        numbers = self._telling()
        every = self.every = [self._given(clause, numbers) for clause in clauses]
        for given in every:
            self.wanted.update({x for several in given.asked.values() for x in several})
        compared = self.functions.comparing
        for given in (x for x in every if x.clause is self.first):
            for _ in range(AT_FIRST):
                self._one_more(given)
        for given in every:
            self._one_more(given)
        for _ in range(self.profile.examples):
            for given in every:
                for _ in range(given.clause.effort if given.clause.number in compared else 1):
                    self._one_more(given)
        return self.part()

    def part(self, share: float = 1.0) -> Mapping[str, tuple[int, ...]]:
        """The shapes of each clause that cost a share of all programs, at least one each."""
        left = share * self.spent
        found: dict[str, tuple[int, ...]] = {}
        for number, shape, price in self.given:
            left -= price
            if left >= 0 or number not in found:
                found[number] = (*found.get(number, ()), shape)
        return found

    def _one_more(self, given: Given) -> None:
        """Give a clause the shape that shows most for the fewest programs that are left.

        The first shape is given in any case: the cheapest one if there are not enough programs.
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
        self.given.append((given.clause.number, shape, affordable[shape]))
        given.give(shape)

    def _price(self, wanted: Asked) -> int:
        """The number of new programs: gradients need two for each shape."""
        return sum(2 if name in self.twice else 1 for name, _ in wanted - self.known)

    def _telling(self) -> list[int]:
        """The numbers of shapes that show most of the definition, the simplest first."""
        chance = Stream(seed_of(f"{self.seed} palette"))
        numbers = [0, *(chance.word() for _ in range(AMONG * self.profile.palette))]
        put = {x: self._problem(self.first, x, x) for x in numbers}
        put = {x: p for x, p in put.items() if self._inside(p)} or put
        said = np.array([self.kind.features.said(p) for p in put.values()], dtype=np.float32)
        shown = Given(self.first, dict.fromkeys(put, frozenset()), said)
        shown.give(next(iter(put)))
        while len(shown.shapes) < self.profile.palette and (gains := shown.gains()):
            shown.give(max(gains, key=gains.__getitem__))
        return shown.shapes

    def _given(self, clause: Clause, numbers: Sequence[int]) -> Given:
        """The record of a clause without shapes; excluded problems only if there are no others."""
        self.beat()
        put = self._around(clause, numbers)
        made = {x: asked(clause, self.truth, p) for x, p in put.items()}
        made = {x: calls for x, calls in made.items() if self._all_inside(calls)} or made
        wrong = [self.wrong[x] for x in sorted(clause.catches & self.wrong.keys())]
        said = np.array([self._said(put[x], made[x], wrong) for x in made], dtype=np.float32)
        programs = {x: programs_of(calls) for x, calls in made.items()}
        return Given(clause, programs, said, mistakes=len(wrong))

    def _said(self, problem: Any, calls: Calls, wrong: Collection[Test]) -> list[bool]:
        """The features of a problem, and whether its calls would show each known bug."""
        put = [(one, self.functions.group(name)) for name, one, _ in calls]
        shown = [any(lies(one, function) for one, function in put) for lies in wrong]
        return [*self.kind.features.said(problem), *shown]

    def _around(self, clause: Clause, numbers: Sequence[int]) -> Mapping[int, Any]:
        """Problems of a clause by number; excluded ones are replaced by others."""
        chance = Stream(seed_of(f"{self.seed} {clause.number} palette"))
        more = (chance.word() for _ in range(AMONG * self.profile.palette))
        every = ((x, self._of_clause(clause, x)) for x in chain(numbers, more))
        inside = ((x, problem) for x, problem in every if self._inside(problem))
        found = dict(islice(inside, len(numbers)))
        return found or {x: self._of_clause(clause, x) for x in numbers}

    def _inside(self, problem: Any) -> bool:
        """Whether any function is judged on a problem."""
        return self.bounds.everywhere or any(self.bounds.has(problem, x) for x in self.groups)

    def _all_inside(self, calls: Calls) -> bool:
        """Whether all calls of a clause are judged."""
        return all(self.bounds.has(put, self.functions.group(name)) for name, put, _ in calls)

    def _of_clause(self, clause: Clause, shape: int) -> Any:
        """A problem of these shapes, with numbers of the clause."""
        number = Stream(seed_of(f"{self.seed} {clause.number} {shape}")).word()
        return self._problem(clause, number, shape)

    def _problem(self, clause: Clause, number: int, shape: int, reach: Reach | None = None) -> Any:
        reach = reach or self.profile.name
        scope = scope_for(clause, self.subject, self.dtype, "strict", reach)
        return drawn(clause, scope, number, shape)

    def _timed(self, problem: Any) -> tuple[float, int]:
        """Seconds of a call, and how many programs JAX compiles; 0 if it is refused."""
        start, compiled = time.process_time(), of_jax()
        if not self.answers(self.functions.first, problem):
            return 0.0, 0
        return time.process_time() - start, of_jax() - compiled

    def answers(self, name: str, problem: Any) -> bool:
        """Call a function of the target; whether it answered, in whatever form."""
        try:
            self.functions.put(self.subject, name, problem)
        except Refused:
            return False
        except Violation:
            pass
        return True
