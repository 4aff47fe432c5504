"""What callers from Python meet: clauses as tests, arrays to judge, and all left as it was."""

import random
import re
import warnings

import numpy as np
import pytest

from spec import assert_attention, certify, parametrize_with_clauses
from spec.attention.plug.trials import core
from spec.attention.rounding import reference
from spec.certification.as_tests import runs
from spec.certification.failed_tests import explained
from spec.entries import eighths
from tests import shell, targets

QUICK = {"profile": "quick", "dtypes": ("float32",)}


def test_tests_are_those_that_were_selected_and_the_definition():
    assert [run.number for run in runs(targets.plain, **QUICK, clauses="V2")] == ["V2", "A1"]


def test_a_certificate_under_a_budget_is_in_the_order_in_which_clauses_are_read():
    hurried, calm = (certify(targets.plain, **QUICK, clauses="V", budget=b) for b in (60, None))
    items = [[(v.clause, v.dtype, v.outcome) for v in c.verdicts] for c in (hurried, calm)]
    assert items[0] == items[1]
    assert [run.number for run in runs(targets.plain, **QUICK, clauses="V", budget=60)] != [
        run.number for run in runs(targets.plain, **QUICK, clauses="V")
    ]


@parametrize_with_clauses(targets.plain, **QUICK, clauses="A1,V2,S1")
def test_clauses_become_tests(run):
    run()


def test_a_clause_as_a_test_fails_with_the_failure():
    found = {run.id: run for run in runs(targets.elementwise, **QUICK, clauses="K2")}
    with pytest.raises(AssertionError, match="K2 key_gradients_sum_to_zero"):
        found["K2-key_gradients_sum_to_zero-float32"]()


@pytest.mark.slow
def test_without_causes_failures_as_tests_are_listed():
    """Whoever stops at the first failure has them found, and ten failures where there are none."""
    options = {"profile": "quick", "dtypes": ["float64"], "clauses": "A1,S1,V2", "fail_fast": True}
    failed = {run.id: run for run in runs(doubled, **options) if run.failure()}
    said, tests = explained(failed)
    assert said.startswith("doubled: 1 cause found\n")
    (line,) = {*tests.values()}
    assert re.fullmatch(r"the output is wrong in \d+ of \d+ problems", line)  # twice zero is right
    assert {*tests} == {*failed} > {"S1-rows_sum_to_one-float64"}
    hurried = {x.id: x for x in runs(doubled, **options, diagnosis_timeout=1e-9)}
    said, tests = explained({name: hurried[name] for name in failed})
    assert said.startswith("doubled: no causes found\nfails: A1 ")
    assert {*tests} == {*failed}
    both = runs(doubled, **{**options, "dtypes": "float32,float64"}, diagnosis_timeout=1e-9)
    said, _ = explained({x.id: x for x in both if x.number != "V2" or x.dtype == "float32"})
    told = "5 tests fail, of 3 clauses: a clause is a test in each format\n"
    assert said.startswith(f"doubled: no causes found; {told}")


def doubled(query, key, value):
    return 2 * targets.plain(query, key, value)


def test_a_recommended_clause_that_fails_is_an_expected_failure():
    found = {run.number: run for run in runs(doubled, **QUICK, clauses="V9")}
    assert found["V9"].force == "should"
    with pytest.raises(pytest.xfail.Exception, match="V9"):
        found["V9"]()


@pytest.mark.parametrize(
    ("made", "conventions", "advice"),
    [
        ({"corner": "bottom-right"}, {}, 'conventions={"causal": "bottom-right"}'),
        ({"causal": False}, {}, "is_causal=False"),
        ({"corner": "bottom-right", "scale": 1.0}, {"causal": "bottom-right"}, "scale=1.0"),
    ],
)
def test_assert_attention_says_what_would_be_correct(made, conventions, advice):
    problem = core("float64", N=3, M=5, causal=True)
    arrays = (problem.q, problem.k, problem.v)
    out = reference(problem.but(**made)).o.astype(float)
    with pytest.raises(AssertionError) as failed:
        assert_attention(out, *arrays, is_causal=True, conventions=conventions)
    right, _, _ = str(failed.value).partition("; otherwise ")
    assert advice in right.removeprefix("correct with ").split(", or with ")


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"causal": "bottom-right"}, TypeError, 'conventions={"causal": "bottom-right"}'),
        ({"is_causal": "no"}, TypeError, "causality is 'no', want True or False"),
        ({"conventions": {"corner": "bottom-right"}}, ValueError, "unknown convention 'corner'"),
        ({"conventions": {"causal": "right"}}, ValueError, "unknown choice 'right' for causal"),
    ],
)
def test_assert_attention_refuses_what_it_does_not_know(options, error, reason):
    q = np.zeros((1, 1, 2, 2))
    with pytest.raises(error, match=re.escape(reason)):
        assert_attention(q, q, q, q, **options)


def test_assert_attention_judges_arrays():
    q, k, v = (eighths(1, 2, n, 4, seed=n).astype(np.float32) for n in (3, 5, 5))
    mask = np.tri(3, 5, k=1, dtype=bool)
    out = targets.right(q, k, v, mask)
    assert_attention(out, q, k, v, mask=mask)
    with pytest.raises(AssertionError, match="want"):
        assert_attention(out, q, k, v)
    with pytest.raises(AssertionError, match="shape"):
        assert_attention(out[:, :, :2], q, k, v, mask=mask)
    with pytest.raises(TypeError, match="not list"):
        assert_attention(out, q.tolist(), k, v)


@pytest.mark.torch
def test_assert_attention_takes_torch():
    import torch

    q, k, v = (torch.tensor(eighths(1, 2, 5, 4, seed=n)).bfloat16() for n in range(3))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_attention(out, q, k, v, is_causal=True)
    with pytest.raises(AssertionError):
        assert_attention(out * 1.1, q, k, v, is_causal=True)


def test_the_caller_is_left_as_it_was():
    random.seed(1)
    np.random.seed(1)
    states = (random.getstate(), str(np.random.get_state()), warnings.filters[:], np.geterr())
    certify(targets.plain, **QUICK, clauses="A1")
    assert states == (
        random.getstate(),
        str(np.random.get_state()),
        warnings.filters[:],
        np.geterr(),
    )


def test_nothing_is_written_where_the_caller_stands(tmp_path):
    assert shell.certify("right", "--clause", "A1", cwd=tmp_path).returncode == 0
    assert not list(tmp_path.iterdir())
