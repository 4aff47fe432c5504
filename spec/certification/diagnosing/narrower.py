"""Sets of which too little is wrong inside, made narrower.

What was made from a wrong problem, by changing one thing, is wrong more often than what is drawn:
a rare set looks as if nearly all of it were. So problems are drawn inside of a set, many enough to
say how much of it is wrong; and where that is too little, they tell what else is needed.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from spec.certification.diagnosing.evidence import ANOTHER, Evidence
from spec.certification.diagnosing.leads import Lead, Row
from spec.certification.diagnosing.separating import MOST, Split
from spec.certification.diagnosing.table import COVERED, Table
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.drawing import series
from spec.features import joined

# How many times the problems of a search are drawn, until so many are inside; it is too wide if no
# more of them are wrong than that. Of few that are drawn, a part may be so by chance.
LOOKED = ((4, 40, 0.55), (16, 160, 0.37))


def narrowed(evidence: Evidence, lead: Lead, split: Split, table: Table, bounds: Bounds) -> Split:
    """A conjunction, of as few features as do, but of more if too little is wrong inside.

    bounds: outside of other causes.
    """
    split = table.shorter(split)
    if lead.drawn or not split.columns:
        return split
    drawn = [row for row in table.within(split) if row.weight == 1]
    ways = {"", lead.how, *(row.how for row in table.rows)}
    features = joined(evidence.named(split.columns))
    for times, enough, little in LOOKED:
        if len(drawn) < enough:
            found = _inside(evidence, lead, features, bounds, times * evidence.count, enough)
            rows = evidence.rows(lead, [*found], drawn=True)
            drawn += [row for row in rows if row.how in ways]
        if not drawn or np.mean([row.how != "" for row in drawn]) >= little:
            return split
    return _longer(split, drawn, table) if any(row.how for row in drawn) else split


def _inside(
    evidence: Evidence, lead: Lead, features: str, bounds: Bounds, looked: int, enough: int
) -> Iterator[Any]:
    """Problems drawn anew where a lead quantifies, in each format, with some features."""
    first, test = lead.clauses[0], evidence.kind.features.sentence(features)
    for dtype, subject in evidence.subjects.items():
        if first.binds(subject):
            drawn = series(first, evidence.scope(first, dtype), looked, ANOTHER + looked)
            within = (p for p in drawn if test(p, lead.asked) and lead.within(bounds, p))
            yield from islice(within, enough)


def _longer(split: Split, drawn: Sequence[Row], table: Table) -> Split:
    """A narrower set that holds nearly all that is wrong, or the same one, if there is none.

    drawn: what was, inside.
    """
    wrong = [row.said for row in (*table.within(split), *drawn) if row.how]
    more = Table.of(drawn, table.prices).best(np.mean(wrong, axis=0) > COVERED).columns
    longer = {*split.columns, *more}
    every = np.array([row.said for row in (*table.rows, *drawn)])
    for column in split.columns:
        rest = longer - {column}
        if every[every[:, [*rest]].all(axis=1), column].all():  # the others imply it
            longer = rest
    return Split((*sorted(longer),), split.worth) if more and len(longer) <= MOST else split
