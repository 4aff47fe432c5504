"""The condition that separates failing problems from passing ones.

Problems are rows of a table, features its columns. A conjunction of features splits the rows. With
w wrong and r right rows on a side, the logarithm of their likelihood, at the share that they have,
is

    w log(w / (w + r)) + r log(r / (w + r))

and the gain of a split is the sum over its two sides less that of all rows together. A feature has
a price (`spec.features`): the logarithm of the number of others. So a feature is named only if it
would hardly coincide with the failures by chance (Rissanen, "Modeling by shortest data
description", Automatica 14, 1978).
"""

from dataclasses import dataclass

import numpy as np

from spec.notation import Array

MOST = 3  # features of a conjunction
LITTLE = 0.03  # of what lies inside: a feature that sets no more apart is not worth its word
PART = 1 / 3  # of what a feature leaves out is wrong: then it leaves out too much
BEAM = 40  # conjunctions that are made longer
Columns = tuple[int, ...]  # the places of some


@dataclass(frozen=True)
class Split:
    """A conjunction, by the positions of its columns, and its worth in nats."""

    columns: Columns
    worth: float


def likelihood(wrong: Array, right: Array) -> Array:
    """The largest log-likelihood of so many wrong and so many right rows."""
    wrong, right = np.asarray(wrong), np.asarray(right)
    total = np.maximum(wrong + right, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (np.where(n > 1e-9, n * np.log(n / total), 0.0) for n in (wrong, right))
    return np.asarray(a + b)


def best(
    table: Array, wrong: Array, weight: Array, cost: Array, having: Array, most: int = 1
) -> list[Split]:
    """The conjunctions of columns that are worth most, of those that `having` allows.

    table: (rows, columns) bool. wrong, weight: (rows,), whether a row is, and how much it counts.
    cost, having: (columns,). most: how many. The empty conjunction is worth nothing, and comes
    last.
    """
    places = np.flatnonzero(having)
    columns, price = table[:, places].astype(float), cost[places]
    bad, good = weight * wrong, weight * ~wrong
    found = [Split((), 0.0)]
    beam: list[Columns] = [()]
    for _ in range(MOST):
        rows = [columns[:, list(key)].all(axis=1) for key in beam]
        inside = np.array(rows).reshape(len(beam), len(table))
        paid = np.array([price[list(key)].sum() for key in beam])
        worth = _gains(columns, bad, good, inside) - price - paid[:, None]
        longer: dict[Columns, float] = {}
        for chosen, gained in zip(beam, worth, strict=True):
            for place in np.argsort(-gained, kind="stable")[:BEAM].tolist():
                if place not in chosen:
                    longer[tuple(sorted((*chosen, place)))] = float(gained[place])
        beam = sorted(longer, key=lambda key: (-longer[key], key))[:BEAM]
        better = (key for key in beam[:most] if longer[key] > 1e-9)
        found += [Split(tuple(int(places[i]) for i in key), longer[key]) for key in better]
    # Of two that are worth the same, the shorter one: it was found first.
    return sorted(found, key=lambda split: -round(split.worth, 9))[:most]


def worth(columns: Columns, table: Array, wrong: Array, weight: Array, cost: Array) -> Split:
    """The worth of a given conjunction."""
    inside = np.asarray(table[:, list(columns)].all(axis=1))
    gained = _gains(np.ones((len(table), 1)), weight * wrong, weight * ~wrong, inside[None])
    return Split(columns, float(gained[0, 0] - cost[list(columns)].sum()))


def shorter(columns: Columns, table: Array, wrong: Array, weight: Array) -> Columns:
    """A conjunction without features that exclude hardly any passing row.

    Features that exclude failing rows are dropped as well. One feature stays, as a condition that
    all problems meet is another claim.
    """

    def inside(left: Columns) -> Array:
        return np.asarray(table[:, list(left)].all(axis=1))

    def share(rows: Array) -> float:
        return float((weight * rows) @ wrong / max((weight * rows).sum(), 1e-9))

    def needless(left: Columns) -> bool:
        rows, before = inside(left), inside(columns)
        return share(rows) > share(before) - LITTLE or share(rows & ~before) > PART

    while len(columns) > 1:
        fewer = [columns[:place] + columns[place + 1 :] for place in range(len(columns))]
        found = [left for left in fewer if needless(left)]
        if not found:
            break
        columns = max(found, key=lambda left: share(inside(left)))
    return columns


def _gains(columns: Array, bad: Array, good: Array, inside: Array) -> Array:
    """The gain of each column in addition to some rows, without its price.

    columns: (rows, columns). bad, good: (rows,). inside: (beam, rows). Returns (beam, columns).
    """
    a, b = (bad * inside) @ columns, (good * inside) @ columns
    wrong, right = bad.sum(), good.sum()
    gained = likelihood(a, b) + likelihood(wrong - a, right - b) - likelihood(wrong, right)
    # What is wrong less often inside than outside is described by its opposite.
    return np.where(a * (wrong + right) >= wrong * (a + b), gained, -np.inf)
