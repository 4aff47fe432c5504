"""The search for causes: a failure is examined, its cause is excluded, and testing continues.

Every failing clause is tested again on problems outside of the causes found so far. If one breaks
it, this failure is examined (`outside`). When all clauses pass there, that is the region.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spec.certification.diagnosing.evidence import ANOTHER, MADE
from spec.certification.diagnosing.experiments import LENGTHS
from spec.certification.diagnosing.granting import coarser, only_rounds
from spec.certification.diagnosing.leads import GOES, Found, Lead, Row, alike, usual, widened
from spec.certification.diagnosing.memory import comes_and_goes, unsteady
from spec.certification.diagnosing.mending import Mending, reach
from spec.certification.diagnosing.narrower import narrowed
from spec.certification.diagnosing.outside import Outside
from spec.certification.diagnosing.separating import Split
from spec.certification.diagnosing.table import CLEAR, COVERED, MAINLY, Table, distinct, empty
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import Cause, Heard
from spec.certification.judging.plan import Item
from spec.notation import HALF, Array, Grade

RARELY = 0.1  # of what was looked at is wrong, and nothing sets it apart
AGAIN = 20  # problems, at last, of a clause that holds answers to the definition
MOST = 6  # causes: who has more is better told which they are by mending the first
DOWN = 300  # problems at most on the way to a smaller one


class Search:
    """The causes found so far, and the known results of a target.

    start: the tests, as yet without causes. broken: a problem that breaks each item, within causes
    or not. heard: receives the first cause.
    """

    def __init__(self, start: Outside, seconds: float, mending: Mending, heard: Heard) -> None:
        self.start, self.mending, self.heard = start, mending, heard
        self.evidence, self.bounds, self.kind = start.evidence, start.bounds, start.evidence.kind
        self.found: list[Found] = []
        self.rows: list[Row] = []
        self.broken: dict[Item, Any] = {}
        self.deadline = time.monotonic() + seconds

    def run(self, failing: Sequence[Item]) -> bool:
        """Find causes; return whether every item passes outside of them."""
        # What merely should hold may be broken for one of these causes, and else is told alone.
        left = [item for item in failing if self.start.clauses[item[0]].force == "must"]
        later: list[Item] = []  # where no answer is wrong by itself, until others are explained
        if not (self._explain(left, later) and self._explain(later)):
            return False
        # What is rarely wrong outside is seen in more problems than the few of a clause.
        seen = self.kind.functions.comparing
        seen |= {number for found in self.found for number in found.cause.beside}
        self.start = replace(self.start, examples=max(AGAIN, self.start.examples), seed=ANOTHER)
        left = [item for item in left if item[0] in seen]
        return self._explain(left) and self._accounts_for_all()

    def _explain(self, left: list[Item], later: list[Item] | None = None) -> bool:
        """Find causes; False if time is over. later: gets clauses without a wrong result."""
        while left := self.outside.broken(left, self.broken):
            lead = self.outside.lead(left[0])
            if lead is None:  # it comes and goes
                left.pop(0)
            elif lead.drawn and later is not None:
                later.append(left.pop(0))
            elif len(self.found) >= MOST or time.monotonic() > self.deadline:
                return False
            else:
                self.look_into(lead)
        return True

    def _grant(self, grades: Mapping[str, Grade]) -> bool:
        """Judge by other rounding models from now on, if there are any."""
        if not grades:
            return False
        self.evidence = self.evidence.graded(grades)
        self.start = replace(self.start, first=self.start.first.graded(grades))
        self.broken = {item: x for item, x in self.broken.items() if item[1] not in HALF}
        self.rows = []
        return True

    def _accounts_for_all(self) -> bool:
        """Whether no problem with a wrong result lies outside of the causes."""
        for found in self.found:
            for lead in self.evidence.failing(found.lead, self.bounds)[:1]:
                self.look_into(lead)
        return not any(self.evidence.failing(x.lead, self.bounds) for x in self.found)

    @property
    def outside(self) -> Outside:
        """The tests outside of the causes found so far."""
        return replace(self.start, evidence=self.evidence, bounds=self.bounds)

    def look_into(self, lead: Lead) -> None:
        """Find the cause of a failure."""
        if changes := unsteady(self.evidence, lead):
            self._give_up(lead, changes)
            return
        if not self.found and not lead.drawn:
            self._grant(coarser(self.evidence, lead))
        row = self.evidence.row(lead, lead.problem)
        first = row if row is not None and row.how else self.evidence.said(lead, lead.how)
        problem, down, _ = self.evidence.way_down(
            lead, lambda x: x.how == lead.how and lead.within(self.bounds, x.problem), DOWN
        )
        small = next((row for row in down if row.problem is problem), first)
        self.evidence.notice(small.problem)
        first, small = widened((first, small), self.evidence.features)
        made = [*down, *self.evidence.neighbours(lead, lead.problem, ())]
        made += self.evidence.neighbours(lead, small.problem, LENGTHS)
        self.rows += distinct([replace(first, weight=MADE), *made])
        self._separate(replace(lead, problem=small.problem), first.said & small.said)

    def _separate(self, lead: Lead, having: Array) -> None:
        """Add one cause for all equal failures if there is one; else one for this failure."""
        unmended = (x for x in self.found if not x.cause.lens)
        kin = [x for x in unmended if lead.is_kin(x.lead) and alike(x.lead.how, lead.how)]
        same = [x for x in kin if x.lead.key == lead.key]
        if len(kin) > len(same) and self._are_one(lead, kin, having):
            return
        every = self._every((lead,), same)
        if self._is_one_with(lead, same, every, having) or self._are_few(lead, same, every):
            return
        if len(same) > 1 and any(self._takes_in(x, lead, having) for x in same):
            return
        rows = [x for x in self._rows(lead) if x.how in ("", lead.how)]
        alone = self._table(lead, rows, self.bounds)
        one, free = alone.shared(having), alone.first(having)
        fair = alone.is_one(one, free, [free.columns])
        self._add(lead, one if fair else free, alone, self.found)

    def _is_one_with(self, lead: Lead, same: Sequence[Found], every: Table, having: Array) -> bool:
        """Add one cause for equal failures, in place of theirs; False if none fits."""
        one, free = every.shared(having), every.first(having)
        if lead.drawn and self._joins(lead, every, free):
            return True
        firsts = [self.evidence.columns(x.cause) for x in same] or [free.columns]
        # No answer is wrong by itself where a clause is: of that, one set says enough.
        found = (lead.drawn and bool(same)) or every.is_one(one, free, firsts)
        if found:
            self._add(lead, one, every, [x for x in self.found if x not in same])
        return found

    def _takes_in(self, known: Found, lead: Lead, having: Array) -> bool:
        """Replace a known cause by a wider one that explains this too; False if none does."""
        one = (table := self._every((lead,), [known])).shared(having)
        if found := table.says_enough(one, self.evidence.columns(known.cause)):
            self._add(lead, one, table, [x for x in self.found if x is not known])
        return found

    def _are_few(self, lead: Lead, same: Sequence[Found], every: Table) -> bool:
        """Explain all equal failures by no more causes than they have; False if that fails."""
        others = [x for x in self.found if x not in same]
        told = every.told([self.evidence.columns(x.cause) for x in same])
        for split, table in told:
            first = next(row for row in table.within(split) if row.how)
            self._add(replace(lead, problem=first.problem, how=first.how), split, table, others)
            others = self.found
        return bool(told)

    def _are_one(self, lead: Lead, kin: Sequence[Found], having: Array) -> bool:
        """Add one cause for failures of a function in other clauses; False if none fits."""
        every = self._every((*(x.lead for x in kin), lead), kin)
        one = every.shared(having)
        # What a known cause is a part of need not be quite as clear.
        wider = one.columns and any({*one.columns} < {*self.evidence.columns(x.cause)} for x in kin)
        if every.share(one) <= (MAINLY if wider else CLEAR):
            return False
        self._add(kin[0].lead, one, every, [x for x in self.found if x not in kin])
        return True

    def _rows(self, lead: Lead) -> list[Row]:
        """All rows of a lead."""
        rows = (row for row in (*self.evidence.draws(lead), *self.rows) if row.asked == lead.key)
        told = (row for row in rows if row.how or not empty(row.problem) or empty(lead.problem))
        return widened(told, self.evidence.features)

    def _every(self, leads: Sequence[Lead], causes: Sequence[Found]) -> Table:
        """The rows of some leads that fail alike or pass, outside of all other causes."""
        rows = [row for lead in {x.key: x for x in leads}.values() for row in self._rows(lead)]
        like = [row for row in rows if not row.how or alike(row.how, leads[-1].how)]
        others = [x for x in self.found if x not in causes]
        return self._table(leads[-1], like, self._without(others))

    def _give_up(self, lead: Lead, failure: str) -> None:
        """Add a cause without a condition, as results change from call to call."""
        self.found = [*self.found, Found(Cause((), "", failure, clauses=lead.numbers), lead)]
        self.bounds = self._without(self.found)

    def _joins(self, lead: Lead, table: Table, free: Split) -> bool:
        """Whether a clause fails where another cause is.

        For clauses without a wrong result, one cause is enough if one of them fails on all
        problems; or a common condition, if all fail only in the last bits, or only at times.
        """
        for place, found in enumerate(self.found):
            split = table.worth(self.evidence.columns(found.cause))
            good = table.does(split, free) or (found.lead.drawn and not split.columns)
            covered = table.inside(split)[table.wrong].mean() > COVERED
            wrong, inside = found.cause.problems
            rarely = wrong <= CLEAR * inside and table.share(free) <= CLEAR
            vague = found.lead.drawn and (rarely or (found.lead.in_bits and lead.in_bits))
            if not found.cause.lens and (vague or (good and covered)):
                beside = (*dict.fromkeys((*found.cause.beside, *lead.numbers)),)
                left = self.evidence.named((split if covered else free).columns)
                features = tuple(x for x in found.cause.features if x in left)
                cause = replace(found.cause, beside=beside, features=features)
                self.found[place] = replace(found, cause=cause)
                self.bounds = self._without(self.found)
                return True
        return False

    def _table(self, lead: Lead, rows: Sequence[Row], bounds: Bounds) -> Table:
        """The table of the rows within bounds."""
        return Table.of([x for x in rows if lead.within(bounds, x.problem)], self.evidence.prices)

    def _add(self, lead: Lead, split: Split, table: Table, others: Sequence[Found]) -> None:
        """Add a cause to others."""
        split = narrowed(self.evidence, lead, split, table, self._without(others))
        rare = not split.columns and table.share(split) < RARELY
        if rare and comes_and_goes(self.evidence, lead):
            self._give_up(lead, GOES)
            return
        rows, lens = [row for row in table.within(split) if row.how], ""
        seen, lead = self.evidence, usual(lead, rows)
        grades = {} if lead.drawn else only_rounds(self.evidence, lead, [x.problem for x in rows])
        if self._grant(grades):
            return
        if mended := self.mending.right(self.evidence, lead, split, table):
            lens, self.mending, self.evidence = mended
            self.rows = []
            split = reach(self.evidence, lead, split, table)
        wrong = tuple(row.problem for row in table.within(split) if row.how)
        problems = len(wrong), len(table.within(split))
        cause = lead.cause(self.evidence.named(split.columns), problems, lens)
        if not self.found:
            self.heard(cause)
        left = [x for x in others if not x.within(cause)]
        self.found = [*left, Found(cause, lead, wrong, seen=seen)]
        self.bounds = self._without(self.found)

    def _without(self, found: Sequence[Found]) -> Bounds:
        """The bounds outside of these causes; those that a lens corrects are not excluded."""
        return Bounds.of(self.kind, self.bounds.where, [x.cause for x in found if not x.cause.lens])
