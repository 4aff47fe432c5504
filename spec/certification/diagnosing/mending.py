"""Lenses: what would make a target right where it is wrong, found by looking through it.

A lens is a convention that nobody declared, or a last step that was left out. A cause that a lens
corrects is reported with it, and the rest is judged through the lens, so that the first cause does
not hide a second one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.leads import Lead
from spec.certification.diagnosing.separating import Split
from spec.certification.diagnosing.table import Table
from spec.certification.judging.examiner import Examiner
from spec.certification.target.probing import narrowed
from spec.certification.target.recognising import declaring
from spec.kinds import kind_of
from spec.subject import Subject

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
        known = self.examiner.recognised.choices.items()
        left = [choice for choice in known if choice[0] not in self.choices]
        yield from map(self._under, zip(left))
        for words in kind_of(self.examiner.raw.about).lenses:
            if words not in self.lenses:
                yield f"correct if {words}", replace(self, lenses=(*self.lenses, words))
        yield from map(self._under, combinations(left, 2))

    def _under(self, found: Iterable[tuple[str, str]]) -> tuple[str, "Mending"]:
        """In words, and seen through, some conventions more."""
        more = dict(found)
        return f"correct under {declaring(more)}", replace(self, choices={**self.choices, **more})

    def right(
        self, evidence: Evidence, lead: Lead, split: Split, table: Table
    ) -> tuple[str, "Mending", Evidence] | None:
        """The lens through which what is wrong is right, in words, and what is seen through it.

        Correct answers stay correct through it.
        """
        wrong = [row.problem for row in table.within(split) if row.how]
        right = [row.problem for row in table.rows if not row.how]
        few = [x for several in (wrong, right) for x in several[:: 1 + len(several) // MENDED]]
        for words, mending in self.others():
            subjects = mending.subjects()
            if subjects is None:
                continue
            seen = evidence.through(subjects)
            if wrong and all(_is_right(seen, lead, problem) for problem in few):
                return words, mending, seen
        return None

    def subjects(self) -> Mapping[str, Subject] | None:
        """The target through its lenses, by format; None if a lens does not apply to it."""
        examiner, raw = self.examiner, self.examiner.raw
        kind = kind_of(raw.about)
        for words in self.lenses:
            raw = kind.lenses[words](raw)
            if raw is None:
                return None
        seen = examiner.guard(kind.under(raw, {**examiner.request.conventions, **self.choices}))
        return {dtype: narrowed(seen, one) for dtype, one in examiner.probed.by_dtype.items()}


def reach(evidence: Evidence, lead: Lead, split: Split, table: Table) -> Split:
    """All problems that a lens corrects, as a set: other wrong ones than those of the first cause.

    Through the lens they are no longer seen to be wrong. evidence: seen through it.
    """
    beside = [row for row in table.outside(split).rows if row.how]
    others = {id(row) for row in beside if not _is_right(evidence, lead, row.problem)}
    if len(others) == len(beside):
        return split
    mended = Table.of([row for row in table.rows if id(row) not in others], table.prices)
    return mended.shorter(mended.shared())


def _is_right(evidence: Evidence, lead: Lead, problem: Any) -> bool:
    row = evidence.row(lead, problem)
    return row is not None and not row.how
