"""A target that compiles for each shape: the shapes that its clauses are given, dtype by dtype."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spec.certification.judging.bounds import Bounds
from spec.certification.judging.pacing import Work, work
from spec.certification.judging.palette import Planner
from spec.certification.settings import Profile
from spec.certification.target.cost import Cost
from spec.certification.target.probing import Probed
from spec.clause import Clause
from spec.kind import Kind
from spec.subject import Subject

WHY = ("compiles for each shape; tested on {} of them", "compiled; tested on {} shapes")


def planned(
    kind: Kind,
    clauses: Mapping[str, Clause],
    probed: Probed,
    profile: Profile,
    seed: int,
    bounds: Bounds,
    beat: Callable[[], None],
    chosen: Collection[str] = (),
) -> Probed:
    """What is left to judge, with palettes if it compiles: the same where it answers the same.

    clauses: all of them by number. bounds: where it is judged. beat: is called before each clause.
    chosen: the numbers of those that will be run, of which the cost is wanted; none if it is not.
    What is judged as compiled compiles, in whichever way: one that takes any shape has a program
    for each set of options.
    """
    first = clauses.get(kind.definition)
    plans = Plans(profile.further, chosen)
    found: dict[str, Subject] = {}
    for dtype, subject in probed.by_dtype.items():
        planner = Planner(kind, subject, first, profile, seed, bounds, beat) if first else None
        if planner is None or not (found or subject.compiled or planner.compiles()):
            return probed
        bound = [clause for clause in clauses.values() if clause.binds(subject)]
        found[dtype] = subject.but(palette=plans.palette(planner, bound))
    return replace(probed, by_dtype=found, notes=(*probed.notes, *plans.notes), cost=plans.cost)


class Plans:
    """The shapes that were planned so far; what answers the same in another dtype is given a share.

    further: that share of the programs of the first. chosen: as `planned` has it.
    """

    def __init__(self, further: float, chosen: Collection[str]) -> None:
        self.further, self.chosen = further, chosen
        self.known: dict[Any, Planner] = {}
        self.spent: list[Work] = []
        self.notes: dict[str, None] = {}

    @property
    def cost(self) -> Cost | None:
        """What is planned, all together."""
        if not self.spent:
            return None
        programs = [x.programs for x in self.spent]
        seconds = sum(x.seconds for x in self.spent) / max(1, sum(programs))
        return Cost(len(self.spent), sum(programs), max(programs), seconds)

    def palette(self, planner: Planner, bound: Sequence[Clause]) -> Mapping[str, tuple[int, ...]]:
        """The shapes of each of some clauses for the subject of a planner."""
        subject = planner.subject
        key = subject.answers, subject.differentiates, *sorted(subject.multiples.items())
        share = self.further if key in self.known else 1.0
        first = self.known.setdefault(key, planner)
        if first is planner:
            planner.palette(bound)
            self.notes[WHY[bool(subject.compiled)].format(planner.shapes)] = None
        part = first.part(share)
        mine = {number: shapes for number, shapes in part.items() if number in self.chosen}
        if mine:
            self.spent.append(work(planner, first.every, mine))
        return part
