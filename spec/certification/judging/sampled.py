"""The shapes that clauses get for a target that compiles for each shape, dtype by dtype."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spec.certification.judging.binding import lost
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.pacing import Work, work
from spec.certification.judging.palette import Planner
from spec.certification.profiles import Profile
from spec.certification.target.cost import Cost
from spec.certification.target.probed import Probed
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
    """The work that is left, with a palette for each clause if the target compiles.

    Dtypes in which the target supports the same get the same shapes. clauses: all of them by
    number. bounds: the problems on which it is judged. beat: is called before each clause. chosen:
    the numbers of those that will be run, whose cost is estimated; none if it is not needed. With
    `--compiled`, a target counts as compiling in any case: one that takes any shape has a program
    for each set of options.
    """
    first = clauses.get(kind.definition)
    plans = Plans(profile.further, chosen)
    found: dict[str, Subject] = {}
    for dtype, subject in probed.by_dtype.items():
        planner = Planner(kind, subject, first, profile, seed, bounds, beat) if first else None
        if planner is None or not (found or subject.compiled or planner.compiles()):
            return probed
        about = (clause for clause in clauses.values() if clause.about == subject.about)
        bound = [clause for clause in about if not lost(clause, subject.answers, subject)]
        found[dtype] = subject.but(palette=plans.palette(planner, bound))
    return replace(probed, by_dtype=found, notes=(*probed.notes, *plans.notes), cost=plans.cost)


class Plans:
    """The shapes planned so far; a dtype that supports the same as an earlier one gets a share.

    further: that share of the programs of the first one. chosen: as in `planned`.
    """

    def __init__(self, further: float, chosen: Collection[str]) -> None:
        self.further, self.chosen = further, chosen
        self.known: dict[Any, Planner] = {}
        self.spent: list[Work] = []
        self.notes: dict[str, None] = {}

    @property
    def cost(self) -> Cost | None:
        """The total cost that is planned."""
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
