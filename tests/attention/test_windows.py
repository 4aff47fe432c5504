"""Windows as others have them: by another word for no bound, not beside a mask, in a corner."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from implementations import dense, loops
from spec import assert_attention, certify
from spec.attention.contents import UNBOUNDED
from spec.attention.domain import Problems
from spec.attention.options import KINDS, Capability
from spec.attention.plug.trials import core
from spec.attention.refusals import is_window
from spec.domain import Scope
from tests.attention.draws import EITHER_WAY

LAST = {"causal": "bottom-right"}

attend = partial(dense.attend, enable_gqa=True)
SMALL = {"backend": "numpy", "dtypes": "float32", "profile": "quick", "clauses": "A1,W"}


def outcomes(certificate):
    return {v.clause: v.outcome for v in certificate.verdicts if v.clause[0] == "W"}


def by_minus_one(query, key, value, is_causal=False, window_size=(-1, -1)):
    """-1 is no bound, as flash-attn has it, and None is nothing that it knows."""
    left, right = (None if bound < 0 else bound for bound in window_size)
    return attend(query, key, value, None, is_causal, window_size=(left, right))


def without_masks(query, key, value, attn_mask=None, is_causal=False, window_size=UNBOUNDED):
    if attn_mask is not None and window_size != UNBOUNDED:
        raise NotImplementedError("a window is not supported beside a mask")
    return attend(query, key, value, attn_mask, is_causal, window_size=window_size)


def at_the_end(query, key, value, is_causal=False, window_size=UNBOUNDED):
    """Both diagonals end in the last key, as flash-attn has them."""
    n, m = query.shape[2], key.shape[2]
    ahead = np.arange(m) - np.arange(n)[:, None] - (m - n)
    left, right = window_size
    seen = ahead <= 0 if is_causal else np.full((n, m), True)
    seen = seen if left is None else seen & (ahead >= -left)
    seen = seen if right is None else seen & (ahead <= right)
    return attend(query, key, value, seen)


def swallows(query, key, value, **options):
    """Takes every option that there is, and heeds all but one."""
    options.pop("window_size", None)
    return dense.attend(query, key, value, **options)


def filled(query, key, value, window_size=UNBOUNDED):
    """A large number takes the place of what is outside: the mean of all, where all is."""
    s = query @ key.swapaxes(-1, -2) * query.dtype.type(query.shape[-1] ** -0.5)
    ahead = np.arange(key.shape[2]) - np.arange(query.shape[2])[:, None]
    for bound, beyond in zip(window_size, (-ahead, ahead), strict=True):
        s = s if bound is None else np.where(beyond > bound, s.dtype.type(-1e30), s)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ value


@pytest.mark.slow
def test_what_becomes_of_idle_queries_is_recognised_by_windows_alone():
    certificate = certify(filled, **SMALL)
    (cause,) = certificate.causes
    assert "correct under the convention fully-masked=uniform" in cause.lens
    declared = certify(filled, **SMALL, conventions={"fully-masked": "uniform"})
    assert declared.passed, str(declared)


def test_no_bound_is_said_in_the_words_of_the_function():
    certificate = certify(by_minus_one, **SMALL)
    assert certificate.passed, str(certificate)
    assert not certificate.refusals
    without = {clause for clause, outcome in outcomes(certificate).items() if outcome != "holds"}
    kept = {f"W{number}" for number in (*range(16, 24), 25)}
    assert without == {"W1", "W2", "W12"} | kept  # neither masks nor gradients, nor first keys


def test_who_refuses_a_mask_beside_it_is_asked_for_windows_alone():
    certificate = certify(without_masks, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["W2"] == "refused"
    assert outcomes(certificate)["W1"] == outcomes(certificate)["W14"] == "holds"
    (refusal,) = certificate.refusals
    assert refusal.what == "takes a mask and a window together"
    assert "a window is not supported beside a mask" in str(certificate)


def test_who_takes_an_option_and_ignores_it_is_refused():
    certificate = certify(swallows, **SMALL | {"clauses": "A1"}, fail_fast=True)
    assert not certificate.passed
    assert certificate.failures[0].counterexample.problem.window != UNBOUNDED


@pytest.mark.deep
def test_who_takes_an_option_and_ignores_it_is_told_so():
    certificate = certify(swallows, **SMALL | {"clauses": "A1"})
    assert not certificate.passed
    assert "window" in certificate.causes[0].sentence


def test_two_diagonals_that_end_in_the_last_key_are_one_convention():
    undeclared = certify(at_the_end, **SMALL, fail_fast=True)
    assert not undeclared.passed
    assert "--convention causal=bottom-right" in str(undeclared)
    assert "window-alignment" not in str(undeclared)
    assert certify(at_the_end, **SMALL, conventions={"causal": "bottom-right"}).passed
    apart = {"causal": "bottom-right", "window-alignment": "top-left"}
    assert not certify(at_the_end, **SMALL, conventions=apart, fail_fast=True).passed


@pytest.mark.parametrize("window", [(-1, 0), (0, -2), 3, (1, 2, 3), (0.5, 0), ("1", "2")])
def test_what_is_no_window_is_told_in_a_line(window):
    q = np.zeros((1, 1, 2, 2))
    with pytest.raises(ValueError, match="each a number of keys or None") as told:
        assert_attention(q, q, q, q, window_size=window)
    assert "\n" not in str(told.value)


def test_assert_attention_knows_both_corners():
    problem = core("float64", window=(1, 0), corner="bottom-right", causal=True)
    arrays = (problem.q, problem.k, problem.v)
    shown = {"window_size": (1, 0), "is_causal": True}
    out = loops.attend(*arrays, **shown)
    assert_attention(out, *arrays, **shown)
    with pytest.raises(AssertionError):
        assert_attention(out, *arrays, **shown, conventions=LAST)
    out = at_the_end(*arrays, is_causal=True, window_size=(1, 0))
    assert_attention(out, *arrays, **shown, conventions=LAST)
    with pytest.raises(AssertionError):
        assert_attention(
            out, *arrays, **shown, conventions={**LAST, "window-alignment": "top-left"}
        )


@EITHER_WAY
def test_who_takes_no_window_is_asked_what_was_asked_before_there_were_any(draw):
    scope = Scope("float32", KINDS - {Capability.WINDOW})
    usual, never = (draw(Problems(windows=x), scope, 60) for x in (None, False))
    for one, other in zip(usual, never, strict=True):
        assert one.window == other.window == UNBOUNDED
        assert (one.seed, one.scale, one.memory) == (other.seed, other.scale, other.memory)
        assert one.q.tobytes() == other.q.tobytes()


@EITHER_WAY
def test_windows_are_of_every_kind(draw):
    problems = draw(Problems(windows=True), Scope("float32", KINDS), 200)
    windows = [p.window for p in problems]
    assert all(is_window(w) and w != UNBOUNDED for w in windows)
    lefts, rights = zip(*windows, strict=True)
    for bounds in (lefts, rights):
        assert {None, 0, 1} <= {*bounds}
    assert any(p.outside.any() and not p.outside.all() for p in problems)
    asked = [(p.causal, p.mask is not None) for p in problems]
    assert {*asked} == {(a, b) for a in (False, True) for b in (False, True)}
    assert any(one != other for one, other in pairwise(windows))
