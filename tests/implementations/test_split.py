"""Keys cut into parts: attention, but for what parts lose that were normalised before they met."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from implementations import dense, split
from spec import certify
from spec.attention import rounding
from spec.attention.mistakes import MISTAKES
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.comparison import equal
from spec.notation import Array
from tests.implementations.problems import M, additive, boolean, problem, sinks, slopes
from tests.judging import QUICK, broken
from tests.night import deep

LOSES = {"A3", "M22", "M23", "M27", "M28", "S12"}  # see `implementations.split`
CLAUSES = [("A1", "A2", "A7", *sorted(LOSES)), deep(None)]  # by default those that may differ
PROBLEMS = {
    "plain": problem,
    "masked": lambda: problem(mask=boolean(), causal=True),
    "biased": lambda: problem(mask=additive(), causal=True),
    "sunk": lambda: problem(sinks=sinks(), slopes=slopes(), mask=boolean()),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("parts", [1, 2, 3, M, 40])
def test_any_number_of_parts_is_the_whole(name: str, parts: int) -> None:
    """Forward and backward; and more parts than keys, some of which have none."""
    cut = implementation(split.attend)
    for dtype in cut.dtypes:
        p = PROBLEMS[name]().but(dtype=dtype)
        options = {"parts": parts}
        target = partial(split.attend, **options)
        vars(target).update(
            backward=partial(split.backward, **options), lse=partial(split.lse, **options)
        )
        record, right = implementation(target, name="cut"), rounding.reference(p)
        equal(record.forward(p), right.o, within=rounding.of_output(p))
        equal(
            record.lse(p),
            right.lse,
            within=rounding.of_lse(p, "float32" if "16" in dtype else dtype),
        )
        found, budget = record.backward(p), rounding.of_gradients(p)
        for x in ("q", "k", "v"):
            equal(getattr(found, x), getattr(right.gradients, x), within=getattr(budget, x))


def test_one_part_is_dense() -> None:
    """To the bit: nothing is merged."""
    p = problem(mask=additive(), causal=True)
    whole, one = (dense.attend, partial(split.attend, parts=1))
    assert np.array_equal(*(f(p.q, p.k, p.v, p.mask, True, enable_gqa=True) for f in (whole, one)))


@pytest.mark.parametrize("examples", [1, deep(QUICK)])
def test_it_keeps_every_clause_but_for_what_is_lost(examples: int) -> None:
    record = implementation(split.attend)
    assert {name.partition("-")[0] for name in broken(record, "float32", examples)} <= LOSES


@pytest.mark.slow
@pytest.mark.parametrize("clauses", CLAUSES)
def test_what_is_lost_is_a_convention(clauses: tuple[str, ...] | None) -> None:
    options: dict[str, Any] = {"profile": "quick", "dtypes": "float32"}
    undeclared = certify(split.attend, clauses="M22", **options)
    assert not undeclared.passed
    assert "correct under the convention parts=merged" in str(undeclared)
    options |= {"clauses": clauses, "conventions": {"parts": "merged"}}
    declared = certify(split.attend, **options)
    assert declared.passed, str(declared)
    assert declared.conventions["parts"] == "merged"


@pytest.mark.parametrize("clauses", CLAUSES)
@pytest.mark.parametrize(("parts", "dtype"), [(2, "float64"), (5, "float16")])
def test_cut_otherwise_it_is_right_too(
    parts: int, dtype: str, clauses: tuple[str, ...] | None
) -> None:
    cut = partial(split.attend, parts=parts)
    vars(cut).update(backward=partial(split.backward, parts=parts))
    options: dict[str, Any] = {"profile": "quick", "dtypes": dtype, "clauses": clauses}
    declared = certify(cut, conventions={"parts": "merged"}, **options)
    assert declared.passed, str(declared)


def of_parts_of_one_key(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None
) -> Array:
    """sum_n exp(l_n - l) o_n, of an l that was rounded, and so forgets how many are alike."""
    s = query @ key.swapaxes(-1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    if attn_mask is not None:
        s = np.where(attn_mask, s, -np.inf) if attn_mask.dtype == bool else s + attn_mask
    m = np.maximum(s.max(axis=-1, keepdims=True), np.finfo(s.dtype).min)
    total = np.exp(s - m).sum(axis=-1, keepdims=True)
    lse = m + np.log(np.where(total == 0, 1, total))
    return np.asarray(np.exp(s - lse) @ value)


def of_parts(query: Array, key: Array, value: Array, attn_mask: Array | None = None) -> Array:
    """The same, divided by the sum of the weights."""
    total = of_parts_of_one_key(query, key, np.ones_like(value), attn_mask)
    return of_parts_of_one_key(query, key, value, attn_mask) / np.where(total == 0, 1, total)


@pytest.mark.parametrize("profile", ["quick", deep("standard")])
def test_what_is_lost_is_no_excuse_for_more(profile: str) -> None:
    """Nor for a base, for weights of ten bits, or for one value that comes back as two."""
    names = ("merges_halves_in_base_two", "rounds_weights_to_float16")
    options: dict[str, Any] = {"conventions": {"parts": "merged"}, "dtypes": "float32"}
    options["profile"] = profile
    for target in (*(MISTAKES[x].target for x in names), of_parts_of_one_key):
        assert not certify(target, **options, fail_fast=True).passed
    assert certify(of_parts, **options).passed


def test_equal_keys_are_forgotten_where_their_logarithm_is() -> None:
    """Of three keys 8.5e37 below zero two are merged, and log 2 is less than a unit of that.

    So the third, by itself, has a half where it should have a third: u |lse| of a weight is more
    than all of it.
    """
    nothing = np.zeros((1, 1, 3, 1), np.float32)
    v, low = nothing.copy(), np.full((1, 3), -(2.0**126), np.float32)
    v[0, 0, 2] = 1
    q = nothing[:, :, :1]
    assert dense.attend(q, nothing, v, low).item() == pytest.approx(1 / 3)
    assert split.attend(q, nothing, v, low, parts=3).item() == 0.5


def test_a_small_weight_in_a_small_part_loses_the_mean_of_the_others() -> None:
    """<do, o_i> and the cotangent of lse_i cancel, where what is left is far below both."""
    zero = np.zeros((1, 1, 5, 1))
    v = zero.copy()
    v[0, 0, 3] = 1
    q = np.ones((1, 1, 1, 1))
    asked = {"alibi_slopes": np.array([16.0])}
    dk = [f.backward(q, q, zero, v, **asked)[1][0, 0, 4, 0] for f in (dense.attend, split.attend)]
    p = Problem(q, zero, v, q, slopes=asked["alibi_slopes"])
    right = rounding.reference(p).gradients.k[0, 0, 4, 0]
    within = rounding.of_gradients(p).k[0, 0, 4, 0]
    assert abs(dk[0] - right) <= within
    assert dk[1] == 0
    assert abs(right) > within
