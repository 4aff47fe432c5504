"""Conditions that too few failures support, made narrower.

A problem made from a failing one, by changing one thing, fails more often than a drawn one, so a
rare condition looks as if nearly all of its problems failed. So problems are drawn that meet the
condition, enough to estimate the share of failures. If it is too small, they show what else is
needed.
"""

from collections.abc import Collection, Iterator, Sequence
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

# Of each seed so many times the problems of a search are drawn, until so many are inside.
TIMES, ENOUGH = 4, 40
# Seeds, and the share of what is wrong that is enough after them: a seed has a few shapes, and the
# share of one, or of few problems, is so by chance.
LITTLE = 0.37
LOOKED = ((range(1, 2), 0.55), (range(2, 5), LITTLE))


def narrowed(evidence: Evidence, lead: Lead, split: Split, table: Table, bounds: Bounds) -> Split:
    """A conjunction with as few features as possible, and more if too little fails inside.

    bounds: outside of other causes.
    """
    split = table.shorter(split)
    if lead.drawn or not split.columns:
        return split
    drawn = [row for row in table.within(split) if row.weight == 1]
    ways = {"", lead.how, *(row.how for row in table.rows)}
    features = joined(evidence.named(split.columns))
    for seeds, little in LOOKED:
        found = [p for seed in seeds for p in _inside(evidence, lead, features, bounds, seed)]
        drawn += [row for row in evidence.rows(lead, found, drawn=True) if row.how in ways]
        if not drawn or _share_wrong(drawn) >= little:
            return split
    return _longer(split, drawn, table) if any(row.how for row in drawn) else split


def _inside(
    evidence: Evidence, lead: Lead, features: str, bounds: Bounds, seed: int
) -> Iterator[Any]:
    """Yield problems of a lead in each format, drawn with another seed, with some features."""
    first, test = lead.clauses[0], evidence.kind.features.sentence(features)
    for dtype, subject in evidence.subjects.items():
        if first.binds(subject):
            scope, looked = evidence.scope(first, dtype), TIMES * evidence.count
            drawn = series(first, scope, looked, ANOTHER + seed)
            within = (p for p in drawn if test(p, lead.asked) and lead.within(bounds, p))
            yield from islice(within, ENOUGH)


def _share_wrong(rows: Sequence[Row], columns: Collection[int] = ()) -> float:
    """The share of failing rows, of those with all of some features; 0 if there are none."""
    wrong = [row.how != "" for row in rows if row.said[[*columns]].all()]
    return float(np.mean(wrong)) if wrong else 0.0


def _longer(split: Split, drawn: Sequence[Row], table: Table) -> Split:
    """A narrower condition that nearly all failures meet; the same one if there is none.

    drawn: rows inside of the condition.
    """
    wrong = [row.said for row in (*table.within(split), *drawn) if row.how]
    more = {*Table.of(drawn, table.prices).best(np.mean(wrong, axis=0) > COVERED).columns}
    for column in sorted(more, key=lambda x: -table.prices[x]):
        if _share_wrong(drawn, more - {column}) >= LITTLE:  # it is enough without
            more.remove(column)
    longer = {*split.columns, *more}
    every = np.array([row.said for row in (*table.rows, *drawn)])
    for column in split.columns:
        rest = longer - {column}
        if every[every[:, [*rest]].all(axis=1), column].all():  # the others imply it
            longer = rest
    return Split((*sorted(longer),), split.worth) if more and len(longer) <= MOST else split
