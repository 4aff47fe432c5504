"""Slopes that multiply the position of a key: larger biases, whose difference cancels."""

import numpy as np
import pytest

from spec import certify
from spec.attention import rounding
from spec.attention.plug.trials import core, telling
from spec.attention.rounding.arithmetic import C_TOP

M = np.array([0.5, -0.25, 2.0])


def by_key(query, key, value, alibi_slopes=None, is_causal=False):
    """m j, as BLOOM and Falcon have it: -m (i - j), but for a number of the row, which cancels."""
    s = query @ key.swapaxes(2, 3) / np.sqrt(query.dtype.type(query.shape[-1]))
    if alibi_slopes is not None:
        m, j = alibi_slopes.reshape(-1, s.shape[1], 1, 1), np.arange(s.shape[3])
        s = s + (m * j).astype(s.dtype)
    if is_causal:
        s = np.where(np.tri(*s.shape[2:], dtype=bool), s, s.dtype.type(-np.inf))
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ value


def test_slopes_times_positions_of_keys_are_a_convention():
    conventions = {"slopes-ahead": "signed", "slopes-from": "keys"}
    certificate = certify(
        by_key, backend="numpy", dtypes="float32", clauses="A1,Y", conventions=conventions
    )
    assert certificate.passed, str(certificate)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_they_are_within_their_budget_and_beyond_that_of_distances(dtype):
    (usual,) = telling(dtype)["slopes-from"]
    arrays = (x.astype(dtype) for x in (usual.q, usual.k, usual.v))
    o = by_key(*arrays, alibi_slopes=usual.slopes.astype(dtype), is_causal=True)
    off = np.abs(o - rounding.reference(usual).o)
    assert (off <= rounding.of_output(usual.but(slopes_by_key=True))).all()
    assert (off > rounding.of_output(usual)).any()


def test_the_largest_score_is_rounded_where_it_is_lifted_to():
    """A kernel in powers of two rounds each score and the largest one, with m p_i in both."""
    p = core("float32", N=40, M=40).but(causal=True, slopes=M)
    usual, lifted = (rounding.bounds(x).weights.exponents for x in (p, p.but(slopes_by_key=True)))
    position = np.abs(M)[None, :, None, None] * np.arange(40.0)[:, None]
    granted = C_TOP * usual.rules.u * position
    assert (np.where(p.allowed, lifted.y - usual.y - granted, 0) >= -1e-12).all()


def test_slopes_times_positions_of_keys_have_no_smaller_budget():
    for changes in ({}, {"causal": True}, {"sinks": np.array([0.5, -np.inf, 2.0])}):
        p = core("float32", N=40, M=40, **changes).but(slopes=M)
        more = rounding.of_output(p.but(slopes_by_key=True))
        assert (more >= rounding.of_output(p)).all()
        assert (more > 1.5 * rounding.of_output(p)).any()
