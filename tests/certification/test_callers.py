"""What callers from Python meet: clauses as tests, arrays to judge, and all left as it was."""

import random
import warnings

import numpy as np
import pytest

from spec import assert_attention, certify, parametrize_with_clauses
from spec.certification.doors import runs
from spec.entries import eighths
from tests import shell, targets

QUICK = {"profile": "quick", "dtypes": ("float32",)}


def test_tests_are_those_that_were_selected():
    assert [run.number for run in runs(targets.plain, **QUICK, clauses="V2")] == ["V2"]


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
