"""Lemma 6: how far weights may be whose exponents are hardly determined, and so their output."""

import numpy as np
import pytest

from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.rounding.intervals import again, between
from spec.formats import rounded
from spec.notation import Array
from tests.attention.budget_shares import worst
from tests.attention.machine import STYLES, Machine

RANDOM = np.random.default_rng(6)


def weights(s: Array, seen: Array) -> Array:
    e = np.where(seen, np.exp(np.clip(s - s[seen].max(), -800.0, 0.0)), 0.0)
    return np.asarray(e / e.sum())


def drawn() -> tuple[Array, Array, Array]:
    """Scores of a row of few keys, the errors of their exponents, and which are visible."""
    M = int(RANDOM.integers(1, 9))
    s = RANDOM.standard_normal(M) * 10 ** RANDOM.uniform(-2, 3)
    x = np.abs(RANDOM.standard_normal(M)) * 10 ** RANDOM.uniform(-8, 2)
    seen = RANDOM.random(M) < 0.8
    seen[RANDOM.integers(M)] = True
    return s, np.where(seen, x, 0.0), seen


def interval(s: Array, x: Array, seen: Array) -> tuple[Array, Array]:
    return between(np.where(seen, s[seen].max() - s, 0.0), x, seen)


def test_weights_lie_in_their_intervals_whatever_the_errors_are() -> None:
    for _ in range(1000):
        s, x, seen = drawn()
        low, high = interval(s, x, seen)
        assert (high[~seen] == 0).all()
        for _ in range(10):
            signs = RANDOM.choice([-1.0, 1.0, RANDOM.uniform(-1, 1)], x.shape)
            a = weights(s + signs * x, seen)
            assert (a <= high * (1 + 1e-12) + 1e-300).all()
            assert (a >= low * (1 - 1e-12) - 1e-300).all()


def test_the_ends_of_an_interval_are_attained() -> None:
    """One exponent moves as far as it may, and all others the other way."""
    for _ in range(300):
        s, x, seen = drawn()
        low, high = interval(s, x, seen)
        for j in np.nonzero(seen)[0]:
            up = np.where(np.arange(len(s)) == j, x, -x)
            for end, moved in ((high, up), (low, -up)):
                a = weights(s + moved, seen)[j]
                assert abs(end[j] - a) <= 1e-11 * a + 1e-14


def test_weights_that_are_computed_again_lie_in_wider_intervals() -> None:
    """The exponents of exp(s - lse) are off in one way, and those of its sum in another."""
    for _ in range(1000):
        s, x, seen = drawn()
        least, most = again(np.where(seen, s[seen].max() - s, 0.0), x, seen)
        low, high = interval(s, x, seen)
        assert (least <= low + 1e-12).all()
        assert (most >= high * (1 - 1e-12)).all()
        for _ in range(10):
            one, other = (s + RANDOM.choice([-1.0, 1.0], s.shape) * x for _ in range(2))
            lse = np.logaddexp.reduce(other[seen])
            a = np.where(seen, np.exp(np.clip(one - lse, -800.0, 39.0)), 0.0)
            assert (a <= most * (1 + 1e-12) + 1e-300).all()
            assert (a >= least * (1 - 1e-12) - 1e-300).all()


@pytest.mark.parametrize("x", [0.0, 1e3, 1e300, np.inf])
def test_no_error_is_too_large(x: float) -> None:
    gap, seen = np.array([0.0, 1.0, 1e300]), np.array([True, True, True])
    low, high = between(gap, np.full(3, x), seen)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    assert (low[0] > 0.7) == (x == 0)


def far_apart(dtype: str, shift: float) -> Problem:
    """A row whose scores are -shift, 0 and shift: eager scores of 300 are off by more than one."""
    q, v = np.full((1, 1, 1, 4), 1.0), np.array([[[[1.0], [2.0], [3.0]]]])
    k = np.array([-shift / 4, 0.0, shift / 4])[:, None] * np.ones(4)
    return Problem(q, k[None, None], v, v[:, :, :1], scale=1.0, dtype=dtype, rounding="eager")


def test_the_value_of_the_lowest_score_is_no_right_output() -> None:
    for dtype in ("float16", "bfloat16"):
        problem = far_apart(dtype, 300.0)
        assert rounding.reference(problem).o[0, 0, 0, 0] == 3.0
        assert rounding.of_output(problem)[0, 0, 0, 0] < 0.1  # the hull is 2 wide
        near = far_apart(dtype, 2.0**-2)
        assert rounding.of_output(near)[0, 0, 0, 0] < 0.1


def test_keys_far_below_have_bounded_gradients() -> None:
    """Where the largest score is known to within one, no other key has a gradient to speak of."""
    for dtype in ("float16", "bfloat16"):
        problem = far_apart(dtype, 300.0)
        assert rounding.coverage(problem).silent == 0
        gradients = rounding.of_gradients(problem)
        assert np.isfinite(gradients.q).all()
        assert (gradients.v[0, 0, :2] < 1e-3).all()
        assert (gradients.k[0, 0, :2] < 1e-2).all()


def test_coverage_counts_rows_that_are_held_to_the_range_alone() -> None:
    assert rounding.coverage(far_apart("bfloat16", 300.0)).capped == 0
    tied = far_apart("bfloat16", 300.0)
    k = tied.k.copy()
    k[..., 0, 0] += 600.0  # as large a score as the largest, of terms that are larger
    k[..., 0, 1] -= 2.0**16
    k[..., 0, 2] += 2.0**16
    assert rounding.coverage(tied.but(k=k)).capped == 1


def test_right_computations_of_large_scores_stay_within_their_budgets() -> None:
    chance = np.random.default_rng(0)
    for seed in range(12):
        shapes = ((1, 2, 3, 4), (1, 2, 6, 4), (1, 2, 6, 3), (1, 2, 3, 3))
        q, k, v, dout = (chance.standard_normal(shape) for shape in shapes)
        for dtype in ("float16", "bfloat16"):
            arrays = [rounded(x, dtype) for x in (10.0 ** (seed / 6) * q, 8.0 * k, v, dout)]
            problem = Problem(*arrays, dtype=dtype, rounding="eager")
            for name, style in STYLES.items():
                shares = worst(problem, Machine(problem, style))
                assert max(shares.values()) <= 1, (seed, dtype, name, shares)
