"""Lenses: what would make a target right where it is wrong, found by looking through it.

A lens is a convention that nobody declared, or a last step that was left out. A cause that a lens
corrects is reported with it, and the rest is judged through the lens, so that the first cause does
not hide a second one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from math import prod
from typing import Any

from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.granting import all_could_be_right, granted, is_right
from spec.certification.diagnosing.leads import Lead
from spec.certification.diagnosing.separating import Split
from spec.certification.diagnosing.table import Table
from spec.certification.judging.cause import NUMBERS, RAISES
from spec.certification.judging.examiner import Examiner
from spec.certification.target.probed import narrowed
from spec.certification.target.recognising import declaring
from spec.kinds import kind_of
from spec.laws import CLAUSES
from spec.notation import HALF
from spec.subject import Subject
from spec.trial import keeps
from spec.written import sizes

GRADED = 60  # problems in formats of 16 bits that tell how a target rounds
MENDED = 12  # problems that a lens has to mend, and others that it has to leave right


@dataclass(frozen=True)
class Mending:
    """A target seen through lenses.

    lenses: the names of those of its kind. choices: conventions beyond those that are declared.
    shut: there are no further ones.
    """

    examiner: Examiner
    lenses: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    shut: bool = False

    def others(self) -> Iterator[tuple[str, "Mending"]]:
        """In words, and seen through, each further lens that there is."""
        if self.shut:
            return
        left = [choice for choice in self._known.items() if choice[0] not in self.choices]
        yield from map(self._under, zip(left))
        for words in self._lenses:
            if words not in self.lenses:
                yield f"correct if {words}", replace(self, lenses=(*self.lenses, words))
        yield from map(self._under, combinations(left, 2))
        yield from self._both

    @property
    def _lenses(self) -> Iterable[str]:
        """The lenses of its kind, in words."""
        return kind_of(self.examiner.raw.about).causes.lenses

    @cached_property
    def _known(self) -> Mapping[str, str]:
        """The conventions that the target seems to follow through the lenses."""
        if not self.lenses:
            return self.examiner.recognised.choices
        raw = self._changed()
        return {} if raw is None else self.examiner.recognised_in(raw).choices

    @cached_property
    def _both(self) -> Sequence[tuple[str, "Mending"]]:
        """A lens that corrects a plain problem, with the conventions that show through it alone."""
        found = list[tuple[str, Mending]]()
        lenses = () if self.lenses or self._is_plainly_right else self._lenses
        for words in lenses:
            changed = replace(self, lenses=(words,))
            more = {n: x for n, x in changed._known.items() if n not in self._known}
            if more and changed._is_plainly_right:
                said, both = changed._under(more.items())
                found.append((f"correct if {words}, and {said.removeprefix('correct ')}", both))
        return found

    @property
    def _is_plainly_right(self) -> bool:
        """Whether the basic case is right through the lenses."""
        if (raw := self.raw()) is None:
            return False
        kind, seen = kind_of(raw.about), self.examiner.guard(raw)
        problem = kind.functions.fitted(seen, kind.core(self.examiner.probed.exact))
        return keeps(CLAUSES[kind.definition], seen, problem)

    def _under(self, found: Iterable[tuple[str, str]]) -> tuple[str, "Mending"]:
        """In words, and seen through, some conventions more."""
        more = dict(found)
        return f"correct under {declaring(more)}", replace(self, choices={**self.choices, **more})

    def right(
        self, evidence: Evidence, lead: Lead, split: Split, table: Table
    ) -> tuple[str, "Mending", Evidence] | None:
        """The lens through which what is wrong is right, in words, and what is seen through it.

        Correct answers stay correct through it. A result of another form, such as another dtype, is
        corrected by a lens through which it has the right form: its numbers may be wrong for
        another reason. So may all numbers of a target that follows a convention everywhere.
        """
        every = [row.problem for row in table.within(split) if row.how]
        halves = [x for x in every if x.dtype in HALF][:GRADED]
        wrong, right = map(_sample, (every, [row.problem for row in table.rows if not row.how]))
        of_form = not lead.drawn and lead.how not in (*NUMBERS, RAISES)
        seen: list[tuple[str, Mending, Evidence]] = []
        known = evidence.grades
        for words, mending in self.others() if wrong else ():
            if seen and mending.lenses != self.lenses and mending.choices != self.choices:
                break  # what one change explains in part is not explained by two
            if (raw := mending.raw()) is None:
                continue
            subjects = mending.subjects(raw)
            if not all_could_be_right(evidence.through(raw, subjects, known), lead, right):
                continue
            grades = granted(evidence, subjects, lead, halves)
            through = evidence.through(raw, subjects, grades)
            if all(is_right(through, lead, problem) for problem in (*wrong, *right)):
                return words, mending, through
            if of_form and _has_form(through, lead, wrong, right):
                seen.append((words, mending, through))
            elif mending.follows(self) and _has_more(through, lead, every, right):
                told = f"seems to follow {declaring(mending.beyond(self))}"
                seen.append((f"{told}; with it, the causes below are left", mending, through))
        return seen[0] if seen else None

    def follows(self, before: "Mending") -> bool:
        """Whether it is seen under one convention more, which a plain problem shows."""
        more = self.beyond(before).keys()
        return len(more) == 1 and more <= self.examiner.recognised.everywhere

    def beyond(self, before: "Mending") -> Mapping[str, str]:
        """The conventions under which it is seen, without those before."""
        return {name: x for name, x in self.choices.items() if name not in before.choices}

    def raw(self) -> Subject | None:
        """The target through its lenses and conventions; None if a lens does not apply to it."""
        if (raw := self._changed()) is None:
            return None
        choices = {**self.examiner.request.conventions, **self.choices}
        seen: Subject = kind_of(raw.about).conventions.under(raw.but(lenses=self.lenses), choices)
        return seen

    def _changed(self) -> Subject | None:
        """The target through its lenses alone."""
        raw = self.examiner.raw
        for words in self.lenses:
            raw = kind_of(self.examiner.raw.about).causes.lenses[words](raw)
            if raw is None:
                return None
        return raw

    def subjects(self, raw: Subject) -> Mapping[str, Subject]:
        """The target through its lenses, in each format.

        Probing took problems that it raises exceptions for; those are taken here, too.
        """
        examiner = self.examiner
        seen = examiner.guard(raw)
        under = kind_of(raw.about).conventions.under
        before = under(examiner.raw, examiner.request.conventions)
        return {dtype: _left_of(seen, before, x) for dtype, x in examiner.probed.by_dtype.items()}


def _left_of(record: Any, before: Any, probed: Any) -> Any:
    """A record without what probing took from another one."""
    kinds = {
        name: getattr(record, name) - (getattr(before, name) - getattr(probed, name))
        for name in ("answers", "differentiates")
    }
    return narrowed(record, probed).but(**kinds)


def reach(evidence: Evidence, lead: Lead, split: Split, table: Table) -> Split:
    """All problems that a lens corrects, as a set: other wrong ones than those of the first cause.

    Through the lens they are no longer seen to be wrong. evidence: seen through it.
    """
    beside = [row for row in table.outside(split).rows if row.how]
    others = {id(row) for row in beside if not is_right(evidence, lead, row.problem)}
    if len(others) == len(beside):
        return split
    mended = Table.of([row for row in table.rows if id(row) not in others], table.prices)
    return mended.shorter(mended.shared())


def _sample(problems: Sequence[Any]) -> Sequence[Any]:
    """Some of the problems, the smallest first, as a wrong lens is often seen on one of them."""
    return sorted(problems[:: 1 + len(problems) // MENDED], key=lambda x: prod(sizes(x).values()))


def _has_form(evidence: Evidence, lead: Lead, wrong: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether nothing wrong fails as it did, but by its numbers at most, and all else is right."""
    rows = [evidence.row(lead, problem) for problem in wrong]
    numbers = all(row is not None and row.how in ("", *NUMBERS) for row in rows)
    return numbers and all(is_right(evidence, lead, problem) for problem in right)


def _has_more(evidence: Evidence, lead: Lead, wrong: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether all that is right stays right, and some of what is wrong becomes it."""
    asked = partial(is_right, evidence, lead)
    return all(map(asked, right)) and any(map(asked, wrong))
