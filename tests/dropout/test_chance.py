"""What chance may do to a right dropout: the bounds beside exact distributions."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, comb, log, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest

from spec import about
from spec.dropout import chance, reading
from spec.dropout.clauses.draws import first_of_pairs
from spec.dropout.domain import CROWD_LENGTHS
from spec.dropout.notation import Problem
from spec.notation import Array
from tests.dropout.test_definition import small
from tests.dropout.test_dropout import FORMATS, right
from tests.judging import QUICK, found
from tests.night import deep

DEEP = 250  # examples of the largest profile
OFF = (-1, 0, 1)  # a rate may be off by RESOLUTION, either way


def all_masks(keys: int, p: float) -> tuple[Array, Array]:
    """Every mask of so many keys, and its probability."""
    masks = np.array(list(product((0, 1), repeat=keys)))
    return masks, np.where(masks, 1 - p, p).prod(axis=-1)


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("level", [0.3, 1e-3, 1e-9, chance.ALARM])
@pytest.mark.parametrize("q", [0.5, 0.1, 0.82, 1 / 3])
@pytest.mark.parametrize("n", [1, 10, 100])
def test_shares_are_outside_their_bounds_as_rarely_as_promised(
    n: int, q: float, level: float, off: int
) -> None:
    """The exact binomial distribution, in fractions."""
    low, high = chance.share(n, q, level)
    success = Fraction(q) + off * Fraction(chance.RESOLUTION)
    outside = sum(
        comb(n, k) * success**k * (1 - success) ** (n - k)
        for k in range(n + 1)
        if not low <= Fraction(k, n) <= high
    )
    assert outside <= level
    assert low <= q <= high


@pytest.mark.quick("0.5")
@pytest.mark.parametrize("q", [0.5, deep(0.1), 0.82])
def test_so_are_the_shares_that_clauses_look_at(q: float) -> None:
    """Both tails of the binomial distribution of 2^15 draws, in 60 digits.

    Each falls faster than geometrically beyond its first term, so 3000 terms hold all of it.
    """
    n = reading.CELLS
    low, high = chance.share(n, q)
    below = range(max(0, ceil(low * n) - 3000), ceil(low * n))
    above = range(int(high * n) + 1, min(n, int(high * n) + 3000) + 1)
    with mpmath.workdps(60):
        success = mpmath.mpf(q)
        both = [
            mpmath.fsum(mpmath.binomial(n, k) * success**k * (1 - success) ** (n - k) for k in tail)
            for tail in (below, above)
        ]
    assert all(tail <= chance.ALARM / 2 for tail in both)
    assert max(both) > chance.ALARM / 100  # so the bounds are not far from the best there are


@pytest.mark.parametrize("level", [0.5, 0.1, 0.01, 1e-3])
@pytest.mark.parametrize("p", [0.5, 0.1, 0.75])
def test_sums_are_outside_their_bounds_as_rarely_as_promised(p: float, level: float) -> None:
    c = np.random.default_rng(3).standard_normal(10)
    masks, chances = all_masks(10, p)
    off = np.abs((masks - (1 - p)) @ c)
    s, furthest = p * (1 - p), max(p, 1 - p) * np.abs(c).max()
    within = chance.of_sum(np.sum(c**2), furthest, s * np.sum(c**2), level)
    assert chances[off > within].sum() <= level


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("level", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("p", [0.5, 0.1, 0.75])
def test_so_are_means_and_squared_deviations(
    p: float, level: float, off: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chance, "ALARM", level)
    c = np.random.default_rng(4).standard_normal((1, 8))
    masks, chances = all_masks(8, p + off * chance.RESOLUTION)
    deviation = (masks - (1 - p)) @ c[0]
    within = chance.of_mean(c, p, calls=1)
    assert chances[np.abs(deviation) > within[0]].sum() <= level
    mean, around = chance.of_squares(c, p, calls=1)
    assert chances[np.abs(deviation**2 - mean) > around].sum() <= level


@pytest.mark.parametrize("p", [0.5, 0.1, 0.75])
def test_the_squared_deviation_has_the_mean_that_is_said(p: float) -> None:
    c = np.random.default_rng(4).standard_normal((1, 8))
    masks, chances = all_masks(8, p)
    squares = ((masks - (1 - p)) @ c[0]) ** 2
    mean, _ = chance.of_squares(c, p, calls=1)
    assert abs(mean - chances @ squares) < 1e-12


def seen(n: int, q: float) -> float:
    """How far from q a probability is sure to be noticed in n trials, with chance 1 - ALARM."""
    low, high = chance.share(n, q)
    return max(q - low, high - q) + sqrt(log(2 / chance.ALARM) / (2 * n))


def test_what_is_said_of_power_is_so() -> None:
    weights, pairs = 2**15, 2**14
    assert weights == reading.CELLS
    assert max(seen(weights, q) for q in (0.1, 0.25, 0.5, 0.75)) < 0.05
    for p, correlation in ((0.5, 0.14), (0.1, 0.35)):
        agreeing = p**2 + (1 - p) ** 2
        assert seen(pairs, agreeing) < 2 * correlation * p * (1 - p)


def test_no_place_is_in_two_pairs() -> None:
    for places in range(2, 40):
        for apart in range(1, places // 2 + 1):
            first = first_of_pairs(places, apart)
            both = np.concatenate([first, first + apart])
            assert len(set(both)) == len(both) > 0
            assert both.max() < places


def test_no_seed_is_in_two_calls_of_one_comparison() -> None:
    x = np.zeros((2, 2, *[CROWD_LENGTHS[0]] * 2))
    problem = Problem(x, x, x, x, p=0.5)
    seeds = [each.seed for each in reading.repeated(problem)]
    assert len(set(seeds)) == len(seeds) == reading.calls(problem)
    assert len(seeds) * problem.allowed.sum() >= reading.CELLS


def test_chance_is_not_told_by_a_few_weights() -> None:
    problem = small(p=0.5)
    repeated = np.arange(8) % 2
    for few in (problem, problem.part("B", repeated).but(training=False)):
        for number in ("D15", "D16", "D17", "D23"):
            with pytest.raises(ValueError, match="tell nothing of chance"):
                about("dropout")[number].check(right("numpy"), few)


@pytest.mark.slow
def test_the_largest_certificate_compares_no_more_than_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every bound that is asked for is one comparison, at level ALARM."""
    asked: Counter[str] = Counter()

    def counted(name: str) -> Any:
        function = getattr(chance, name)

        def count(*arguments: Any) -> Any:
            asked[name] += 1
            return function(*arguments)

        return count

    for name in ("share", "of_mean", "of_squares"):
        monkeypatch.setattr(chance, name, counted(name))
    for clause in about("dropout").values():
        finding = found(clause, right("numpy"), "float32", QUICK)
        assert finding.examples == QUICK * clause.effort
    assert len(asked) == 3
    assert len(FORMATS) * DEEP * sum(asked.values()) / QUICK <= chance.MOST
    assert chance.MOST * chance.ALARM < 1e-9
