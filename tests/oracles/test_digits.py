"""The oracle of many digits: rounded once and right, and the definition held to it."""

from math import inf
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given

from oracles import digits
from oracles.digits import MANY_DIGITS, nearest
from spec.attention import definition, rounding
from spec.attention.notation import Problem
from spec.attention.options import SINKS, SLOPES
from spec.comparison import Violation, at_least, at_most, equal
from spec.exploring import seeds
from spec.formats import FORMATS, rounded
from spec.notation import DTYPES, Array
from tests.judging import generated

LONG_DOUBLE_U = float(np.finfo(np.longdouble).eps) / 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_of_the_format_is_its_own_nearest(dtype: str) -> None:
    to = FORMATS[dtype]

    for x in (0.0, 1.0, -1.5, to.max, to.tiny, to.sub, -3 * to.sub, inf, -inf):
        assert nearest(mpmath.mpf(x), to) == x


@pytest.mark.parametrize("dtype", DTYPES)
def test_ties_go_to_even_and_a_hair_decides(dtype: str) -> None:
    to = FORMATS[dtype]
    spacing = 2 * to.u
    with mpmath.workdps(60):
        one, hair = mpmath.mpf(1), mpmath.mpf(10) ** -50

        assert nearest(one + to.u, to) == 1
        assert nearest(one + to.u + hair, to) == 1 + spacing
        assert nearest(one + 3 * mpmath.mpf(to.u), to) == 1 + 2 * spacing
        assert nearest(mpmath.mpf(to.sub) / 2, to) == 0
        assert nearest(mpmath.mpf(to.sub) / 2 * (1 + hair), to) == to.sub


@pytest.mark.parametrize("dtype", DTYPES)
def test_half_a_step_past_the_largest_number_is_infinite(dtype: str) -> None:
    to = FORMATS[dtype]
    with mpmath.workdps(60):
        half = mpmath.ldexp(1, to.highest - to.p)

        assert nearest(mpmath.mpf(to.max) + half, to) == inf
        assert nearest(-mpmath.mpf(to.max) - half, to) == -inf
        assert nearest(mpmath.mpf(to.max) + half * (1 - mpmath.mpf(10) ** -30), to) == to.max


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_rounding_once_is_not_rounding_twice(dtype: str) -> None:
    to = FORMATS[dtype]
    with mpmath.workdps(60):
        x = 1 + mpmath.mpf(to.u) + mpmath.mpf(10) ** -40

        assert nearest(x, to) != nearest(mpmath.mpf(nearest(x, FORMATS["float64"])), to)


def values(chance: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Numbers of the format: near one, or spread over some orders of magnitude."""
    spread = 10.0 ** chance.integers(-3, 2, (*shape[:-1], 1)) if chance.random() < 0.5 else 1.0
    return rounded(chance.standard_normal(shape) * spread, dtype)


def awkward(seed: int, dtype: str = "float64") -> Problem:
    """Grouped heads, every option, either corner, any scale; idle queries, no keys."""
    chance = np.random.default_rng(seed)
    B, G, N, D, E = chance.integers((1, 1, 1, 1, 1), (3, 3, 5, 4, 4)).tolist()
    M = int(chance.integers(6))
    H = G * int(chance.integers(1, 4))
    allowed = chance.random((B, 1, N, M)) < 0.7
    bias = np.where(allowed, values(chance, (1, H, N, M), dtype), -np.inf)
    problem = Problem(
        q=values(chance, (B, H, N, D), dtype),
        k=values(chance, (B, G, M, D), dtype),
        v=values(chance, (B, G, M, E), dtype),
        dout=values(chance, (B, H, N, E), dtype),
        mask=[None, allowed, bias][chance.integers(3)],
        causal=bool(chance.integers(2)),
        scale=[None, 0.0, -2.0, 8.0][chance.integers(4)],
        corner=["top-left", "bottom-right"][chance.integers(2)],
        window=[(None, None), (1, 0), (0, None), (None, 1)][chance.integers(4)],
        softcap=[None, None, 0.5, 8.0][chance.integers(4)],
        caps_bias=bool(chance.integers(2)),
        window_corner=[None, "top-left", "bottom-right"][chance.integers(3)],
        dtype=dtype,
    )
    problem = problem.but(**slopes(chance, problem), **segments(chance, problem))
    problem = problem.but(**positions(chance, problem))
    return problem.but(sinks=sinks(chance, problem), dlse=cotangents(chance, problem))


def positions(chance: np.random.Generator, problem: Problem) -> dict[str, Any]:
    """None, or those of queries, of keys or of both: a few places, some of them far away."""
    lengths = {"query_positions": problem.N, "key_positions": problem.M}
    far = chance.choice([0, -(2**28), 2**28])
    both = {name: far + chance.integers(-3, 4, (problem.B, n)) for name, n in lengths.items()}
    either = [dict(both), *([{name: x - far} for name, x in both.items()])]
    return either[chance.integers(3)] if chance.random() < 0.4 else {}


def segments(chance: np.random.Generator, problem: Problem) -> dict[str, Any]:
    """None, or up to three texts, and padding."""
    lengths = {"query_segments": problem.N, "key_segments": problem.M}
    texts = {name: chance.integers(-1, 3, (problem.B, n)) for name, n in lengths.items()}
    return texts if chance.random() < 0.3 else {}


def sinks(chance: np.random.Generator, problem: Problem) -> Array | None:
    """None, a sink for each head, or for some; none beside a bias that is capped as well."""
    t = values(chance, (problem.H,), SINKS.dtype(problem))
    some = np.where(chance.random(problem.H) < 0.3, -np.inf, t)
    added = problem.slopes is not None or bool(problem.bias.any())
    bends = problem.softcap is not None and problem.caps_bias and added
    return None if bends else [None, t, some][chance.integers(3)]


def slopes(chance: np.random.Generator, problem: Problem) -> dict[str, Any]:
    """None, slopes of the heads or of each sequence's; from either corner, signed or not."""
    shape = [(problem.H,), (problem.B, problem.H)][chance.integers(2)]
    m = values(chance, shape, SLOPES.dtype(problem))
    return {
        "slopes": [None, m][chance.integers(2)],
        "slopes_corner": [None, "top-left", "bottom-right"][chance.integers(3)],
        "signed_slopes": bool(chance.integers(2)),
    }


def cotangents(chance: np.random.Generator, problem: Problem) -> Array | None:
    """None, or those of the log-sum-exp."""
    return [None, values(chance, problem.dout.shape[:3], problem.dtype)][chance.integers(2)]


def differentiated(problem: Problem) -> tuple[str, ...]:
    """What there are gradients by."""
    beside = (name for name in ("sinks", "slopes") if getattr(problem, name) is not None)
    return ("q", "k", "v", "bias", *beside)


@given(seed=seeds())
@generated
def test_the_definition_is_within_budget_of_many_digits(seed: int) -> None:
    problem = awkward(seed)
    got, want = definition.gradients(problem), MANY_DIGITS.backward(problem)
    budgets = rounding.of_gradients(problem)

    equal(
        definition.attention(problem),
        MANY_DIGITS.forward(problem),
        within=rounding.of_output(problem),
    )
    equal(
        definition.weights(problem),
        MANY_DIGITS.weights(problem),
        within=rounding.of_weights(problem),
    )
    equal(definition.lse(problem), MANY_DIGITS.lse(problem), within=rounding.of_lse(problem))
    for name in differentiated(problem):
        equal(getattr(got, name), getattr(want, name), within=getattr(budgets, name))


def test_a_scale_that_is_slightly_off_is_seen() -> None:
    """The control: the definition at scale (1 + 2^-40), held to the same budgets."""
    chance = np.random.default_rng(0)
    q, k, v, dout = (
        chance.standard_normal((1, 1, n, w)) for n, w in [(4, 3), (6, 3), (6, 2), (4, 2)]
    )
    problem = Problem(q, k, v, dout, scale=2.0)
    wrong = problem.but(scale=2.0 * (1 + 2.0**-40))
    want, budget = MANY_DIGITS.forward(problem), rounding.of_output(problem)

    equal(definition.attention(problem), want, within=budget)
    with pytest.raises(Violation):
        equal(definition.attention(wrong), want, within=budget)


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=seeds())
@generated
def test_many_digits_are_rounded_to_the_format_and_right(dtype: str, seed: int) -> None:
    problem = awkward(seed, dtype)
    out = MANY_DIGITS.forward(problem)
    least, greatest = rounding.admissible(problem)

    equal(rounded(out, dtype), out, within=0)
    at_least(out, least, within=0)
    at_most(out, greatest, within=0)


@given(seed=seeds())
@generated
def test_the_mask_gradient_adds_up_where_the_mask_was_broadcast(seed: int) -> None:
    problem = awkward(seed)
    shape = (1, 1, 1, problem.M)
    bias = problem.but(mask=np.zeros(shape))
    want, budget = definition.gradients(bias).bias, rounding.of_gradients(bias).bias
    assert want is not None

    total = want.sum(axis=(0, 1, 2), keepdims=True)
    assert budget is not None
    within = rounding.of_sum(want, budget, shape, bias)
    equal(MANY_DIGITS.bias_gradient(bias), total, within=within)


def test_an_exact_zero_is_settled() -> None:
    """1/2 + 1/5 - 7/10 is 0, and no finite number of digits says so."""
    seen = np.arange(10) < np.array([2, 5, 10])[:, None]
    dout = np.array([1.0, 1.0, -7.0])[None, None, :, None]
    problem = Problem(np.zeros((1, 1, 3, 1)), *2 * [np.ones((1, 1, 10, 1))], dout, mask=seen)

    with mpmath.workdps(60):
        assert digits.gradients(problem)["v"][0, 0, 0, 0] != 0
    assert MANY_DIGITS.backward(problem).v[0, 0, 0, 0] == 0


def excess(got: Array, want: Array) -> Array:
    """got - want, for got in long double and want in many digits, rounded once."""
    high = got.astype(np.float64)
    low = (got - high).astype(np.float64)  # exact: what 53 of 64 bits leave
    with mpmath.workdps(60):
        return (digits.exact(high) + digits.exact(low) - want).astype(np.float64)


@given(seed=seeds())
@generated
def test_the_definition_in_long_double_keeps_its_digits(seed: int) -> None:
    """A budget is a bound c u + O(u^2) with positive terms, so that budget / u grows with u.

    Hence the one for float64, u = 2^-53, times 2^-11 bounds the error for u = 2^-64; and
    where long double is float64, times 1.
    """
    problem = awkward(seed)
    got, shrink = problem.wide(), LONG_DOUBLE_U * 2.0**53
    budgets = rounding.of_gradients(problem)
    with mpmath.workdps(60):
        out, want = digits.outputs(problem)["o"], digits.gradients(problem)

    equal(excess(definition.attention(got), out), 0, within=shrink * rounding.of_output(problem))
    for name in differentiated(problem):
        error = excess(getattr(definition.gradients(got), name), want[name])
        equal(error, 0, within=shrink * getattr(budgets, name))
