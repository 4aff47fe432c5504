"""What budgets are: where they are nothing, what enters them, and which problems have one."""

import numpy as np
import pytest

from spec.attention import definition, rounding
from spec.attention.notation import Problem
from spec.attention.rounding import sums
from spec.formats import rounded
from spec.notation import GRADES, Grade
from tests.attention.budget_shares import budgets_of
from tests.attention.in_domain import in_domain
from tests.attention.rounding_problems import DTYPES_AND_GRADES, problem_of


@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_budgets_are_zero_where_nothing_is_computed_and_positive_elsewhere(
    dtype: str, grade: Grade
) -> None:
    for seed in range(60):
        problem = problem_of(seed, dtype, grade)
        budgets, allowed = budgets_of(problem), problem.allowed
        keys = definition.gathered(allowed.sum(axis=-2)[..., None], problem.G) > 0
        rows = ~problem.idle
        expected = dict.fromkeys(("o", "dq"), rows[..., None]) | {"dk": keys, "dv": keys}
        expected |= {"row sum": rows, "lse": rows, "weights": allowed, "dbias": allowed}
        for name, there in expected.items():
            assert not np.isnan(budgets[name]).any(), (seed, name)
            assert ((budgets[name] > 0) == there).all(), (seed, name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_grade_allows_all_that_the_last_one_did(dtype: str) -> None:
    for seed in range(100):
        problem = problem_of(seed, dtype)
        strict, flash, eager = (budgets_of(problem.but(rounding=grade)) for grade in GRADES)
        for name in strict:
            assert (strict[name] <= flash[name]).all(), (seed, name)
            assert (flash[name] <= eager[name]).all(), (seed, name)


@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_forbidden_content_enters_no_budget(dtype: str, grade: Grade) -> None:
    poison = {"float16": 6e4}.get(dtype, 1e30)
    for seed in range(40):
        problem = problem_of(seed, dtype, grade)
        seen = np.ones(problem.M, dtype=bool)
        seen[0] = seen[-1] = False
        problem = problem.but(mask=np.broadcast_to(seen, problem.allowed.shape[-2:]))
        unseen, idle = ~seen[:, None], problem.idle[..., None]
        poisoned = problem.but(
            k=np.where(unseen, poison, problem.k),
            v=np.where(unseen, -poison, problem.v),
            q=np.where(idle, poison, problem.q),
            dout=np.where(idle, poison, problem.dout),
        )
        for name, budget in budgets_of(problem).items():
            np.testing.assert_array_equal(budgets_of(poisoned)[name], budget, f"{seed} {name}")


SIZES: list[dict[str, int]] = [
    *({axis: size} for axis in "BNMDE" for size in (0, 1)),
    {"N": 0, "M": 0},
    {"D": 0, "E": 0},
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_sizes_of_zero_and_one_have_budgets(
    sizes: dict[str, int], dtype: str, grade: Grade
) -> None:
    n = {"B": 2, "N": 3, "M": 4, "D": 5, "E": 6} | sizes
    shapes = (n["B"], 4, n["N"], n["D"]), (n["B"], 2, n["M"], n["D"])
    values = (n["B"], 2, n["M"], n["E"]), (n["B"], 4, n["N"], n["E"])
    chance = np.random.default_rng(0)
    q, k, v, dout = (rounded(chance.standard_normal(shape), dtype) for shape in (*shapes, *values))
    problem = Problem(q, k, v, dout, causal=True, scale=0.5, dtype=dtype, rounding=grade)
    budgets = budgets_of(problem)
    assert budgets["o"].shape == (n["B"], 4, n["N"], n["E"])
    assert budgets["dk"].shape == problem.k.shape
    assert in_domain(problem)


def test_rows_that_rounding_alone_decides_are_held_to_the_hull() -> None:
    """The first score is ahead by 1024, and what the other may be off by is more than that."""
    q = np.ones((1, 1, 1, 2))
    k = np.array([[[[0.0, 0.0], [2.0**42, -(2.0**42) - 2.0**20]]]])
    v = np.array([[[[1.0], [3.0]]]])
    problem = Problem(q, k, v, v[:, :, :1], scale=2.0**-10, dtype="float32")
    assert rounding.coverage(problem) == rounding.Coverage(rows=1, capped=1, silent=1)
    budget = rounding.of_output(problem)
    assert 2 <= budget[0, 0, 0, 0] < 2.01
    assert np.isposinf(rounding.of_gradients(problem).k).all()


def test_the_reference_is_the_definition() -> None:
    for dtype in ("float32", "float64"):
        for seed in range(20):
            problem = problem_of(seed, dtype)
            asked = problem.wide() if dtype == "float64" else problem
            exact = rounding.reference(problem)
            np.testing.assert_array_equal(exact.o, definition.attention(asked))
            np.testing.assert_array_equal(exact.lse, definition.lse(asked))
            np.testing.assert_array_equal(exact.weights, definition.weights(asked))
            np.testing.assert_array_equal(exact.gradients.k, definition.gradients(asked).k)


def test_most_strict_results_of_16_bits_have_one_admissible_value() -> None:
    single = []
    for seed in range(100):
        low, high = rounding.admissible(problem_of(seed, "bfloat16"))
        single.append((low == high).ravel())
    assert np.concatenate(single).mean() > 0.8


def test_the_matrix_form_of_the_centred_sum_bounds_the_sum() -> None:
    for seed in range(50):
        forward = rounding.bounds(problem_of(seed, "float32")).forward
        direct, products = forward.centred, forward._centred_by_products
        assert (products >= direct * (1 - 1e-9)).all(), seed


def test_what_overflows_is_out_of_the_domain() -> None:
    problem = problem_of(0, "float16")
    assert in_domain(problem)
    assert not in_domain(problem.but(v=np.full(problem.v.shape, 6e4)))
    far = problem.but(q=np.full(problem.q.shape, 300.0), k=np.full(problem.k.shape, 300.0))
    assert in_domain(far.but(dout=far.dout * 0, scale=1.0))
    assert not in_domain(far.but(dout=far.dout * 0, scale=1.0, rounding="eager"))
    hidden = problem.but(dtype="float32", k=np.full(problem.k.shape, 1e38), mask=np.zeros(1, bool))
    assert not in_domain(hidden)


def test_a_weight_is_rescaled_by_each_key_that_may_come_out_above_it() -> None:
    chance = np.random.default_rng(0)
    for M in (1, 2, 3, 9, 40):
        s = chance.choice([-np.inf, 0.0, 1.0, 1.25, 2.0, 5.0], (2, 3, 4, M))
        for margin in (0.125, 0.5):
            others = (s[..., None, :] > s[..., :, None] - margin).sum(axis=-1) - 1
            seen, R = s > -np.inf, sums.rescalings(s, np.full((2, 3, 4, 1), margin))
            assert (others <= R)[seen].all()
            if margin < 0.25:  # where no two scores are so near, but those that are alike
                np.testing.assert_array_equal(R[seen], others[seen])
