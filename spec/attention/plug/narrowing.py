"""Attention functions that support some sizes only, and are tested on these alone.

One may take as many queries as keys, a single query, one head, or lengths and widths that are
multiples of a number, as kernels do that work in tiles. It has a core of its own (`fitted`).
"""

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from spec.attention.conventions import as_chosen
from spec.attention.notation import Problem
from spec.attention.options import Capability, kinds_of
from spec.attention.record import Implementation

TILES = (8, 16, 32, 64, 128)
MULTIPLES = (1, *TILES)
ALONE: Mapping[str, str] = {
    "": "",
    Capability.QUERIES: "one query",
    Capability.SEVERAL: "one head of one sequence",
}


def narrower(record: Implementation) -> Iterator[Implementation]:
    """The record asked about less, the least restricted first, and saying so."""
    known = record.multiples
    lengths = (1,) if "lengths" in known else MULTIPLES
    widths = (1,) if "widths" in known else MULTIPLES
    ways = sorted(product(ALONE, lengths, widths), key=lambda x: (x[1] * x[2], x[0] != ""))
    for alone, length, width in ways[1:]:
        found = {n: x for n, x in (("lengths", length), ("widths", width)) if x > 1}
        words = [f"{name} that are multiples of {number}" for name, number in found.items()]
        note = f"supports only {' and '.join(filter(None, [ALONE[alone], *words]))}"
        yield without(record, alone).but(
            multiples={**known, **found}, notes=(*record.notes, f"{note}: nothing else is tested")
        )


def without(record: Implementation, *kinds: str) -> Implementation:
    """The record that does not answer these kinds of problem."""
    left = {n: getattr(record, n) - {*kinds} for n in ("answers", "differentiates")}
    return record.but(**left)


def fitted(record: Implementation, problem: Problem) -> Problem:
    """A problem as one of the core of `record`: as causal, as square and as large as that is.

    Its corners are those that the implementation goes by.
    """
    answers = record.answers
    problem = problem.but(**as_chosen(record.chosen))
    if Capability.FUTURE not in answers:
        problem = problem.but(causal=True)
    if not answers >= {Capability.BATCHES, Capability.SEVERAL}:
        problem = problem.part("B", slice(1))
    if Capability.SEVERAL not in answers:
        problem = problem.part("H", slice(1)).part("G", slice(1))
    for axis, size in _sizes(record, problem).items():
        length = getattr(problem, axis)
        if size != length:
            problem = problem.part(axis, np.arange(size) % length)  # over and over again
    return problem


def _sizes(record: Implementation, problem: Problem) -> dict[str, int]:
    """The lengths of N, M, D and E that a problem is to have."""
    one_query, multiples = Capability.QUERIES not in record.answers, record.multiples
    N, M = min(problem.N, 1) if one_query else problem.N, problem.M
    if Capability.LENGTHS not in record.answers:
        N = M = min(N, M)
    tiles = [multiples.get(kind, 1) for kind in ("lengths", *kinds_of(problem))]
    many, keys = _multiples(max(tiles), N, M)
    D, E = _multiples(multiples.get("widths", 1), problem.D, problem.E)
    return {"N": N if one_query else many, "M": keys, "D": D, "E": E}


def _multiples(number: int, one: int, other: int) -> tuple[int, int]:
    """Two sizes as the least multiples of a number of which the longer is still the longer."""
    if number == 1:
        return one, other
    return number * (bool(one) + 2 * (one > other)), number * (bool(other) + 2 * (other > one))
