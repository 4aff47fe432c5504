"""Sinks as others have them: by another name, in float32 beside 16 bits, with no gradient."""

import json
from functools import partial

import numpy as np
import pytest

from implementations import dense
from spec import assert_attention, certify
from spec.attention import definition, moves, rounding
from spec.attention.domain import Problems
from spec.attention.options import KINDS, Capability
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.domain import Scope
from tests.attention.draws import EITHER_WAY

attend = partial(dense.attend, enable_gqa=True)
SMALL = {"backend": "numpy", "dtypes": "float32", "profile": "quick", "clauses": "A1,Z"}
T = np.array([0.5, -1.0, 2.0])


def as_a_key(query, key, value, sinks=None, is_causal=False):
    """What eager code does: a column of scores, and no value for it."""
    s = query @ np.repeat(key, query.shape[1] // key.shape[1], 1).swapaxes(-1, -2)
    s = s * np.float32(query.shape[-1] ** -0.5)
    if is_causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)
    if sinks is not None:
        column = np.broadcast_to(sinks[:, None, None], (*s.shape[:-1], 1))
        s = np.concatenate([s, column], axis=-1).astype(np.float32)
    if not s.shape[-1]:
        return np.zeros((*query.shape[:3], value.shape[-1]), query.dtype)
    e = np.exp(s - np.maximum(s.max(-1, keepdims=True), -1e30))
    total = e.sum(-1, keepdims=True)
    a = e / np.where(total == 0, 1, total)
    v = np.repeat(value, query.shape[1] // value.shape[1], 1)
    return (a[..., : key.shape[2]] @ v).astype(query.dtype)


def known_as(query, key, value, s_aux=None):
    return as_a_key(query, key, value, s_aux)


def not_beside_causality(query, key, value, is_causal=False, sinks=None):
    if is_causal and sinks is not None:
        raise NotImplementedError("sinks are not supported beside causality")
    return as_a_key(query, key, value, sinks, is_causal)


def swallows(query, key, value, **options):
    """Takes every option that there is, and heeds all but one."""
    options.pop("sinks", None)
    return dense.attend(query, key, value, **options)


def outcomes(certificate, clause):
    return {v.dtype: v.outcome for v in certificate.verdicts if v.clause == clause}


def test_a_sink_is_known_by_its_names():
    for target in (as_a_key, known_as):
        certificate = certify(target, **SMALL)
        assert certificate.passed, str(certificate)
        assert outcomes(certificate, "Z3") == {"float32": "holds"}


def test_who_refuses_causality_beside_it_is_asked_for_sinks_alone():
    certificate = certify(not_beside_causality, **SMALL)
    assert certificate.passed, str(certificate)
    (refusal,) = certificate.refusals
    assert refusal.what == "takes causal and attention sinks together"


@pytest.fixture(scope="module")
def refused():
    """The certificate of who takes sinks and ignores them."""
    return certify(swallows, **SMALL)


@pytest.mark.slow
def test_who_takes_sinks_and_ignores_them_is_refused(refused):
    assert not refused.passed
    assert "an attention sink" in refused.causes[0].sentence


def test_sinks_come_in_float32_beside_16_bits():
    seen = set()

    def watched(query, key, value, sinks=None):
        if sinks is not None:
            seen.add((str(query.dtype), str(sinks.dtype), sinks.flags.c_contiguous))
        return as_a_key(query, key, value, sinks).astype(query.dtype)

    asked = {"dtypes": ("float64", "float32", "float16"), "clauses": "Z3", "fail_fast": True}
    certify(watched, **SMALL | asked)
    wide = {("float64", "float64", True), ("float32", "float32", True)}
    assert seen == wide | {("float16", "float32", True)}


def of_sinks(dout, query, key, value, sinks=None):
    """dq, dk, dv and dsinks, by their names."""
    q, k, v, do = (x.astype(np.float64) for x in (query, key, value, dout))
    p = core("float64").but(q=q, k=k, v=v, dout=do, sinks=None if sinks is None else sinks + 0.0)
    found = definition.gradients(p)
    named = {"query": found.q, "key": found.k, "value": found.v}
    if sinks is not None:
        named["sinks"] = found.sinks
    return {name: x.astype(query.dtype) for name, x in named.items()}


def test_a_backward_may_return_gradients_by_their_names():
    record = implementation(as_a_key, backend="numpy", backward=of_sinks)
    problem = core("float32").but(sinks=T)
    right = definition.gradients(problem)
    np.testing.assert_array_equal(record.backward(problem).k, right.k.astype(np.float32))
    np.testing.assert_array_equal(record.sink_gradient(problem), right.sinks.astype(np.float32))
    certificate = certify(record, profile="quick", dtypes="float32", clauses="A1,Z14,Z15")
    assert certificate.passed, str(certificate)
    assert outcomes(certificate, "Z14") == {"float32": "holds"}


def test_who_returns_three_gradients_has_none_of_the_sinks():
    def three(dout, query, key, value, sinks=None):
        return [*of_sinks(dout, query, key, value, sinks).values()][:3]

    record = implementation(as_a_key, backend="numpy", backward=three)
    certificate = certify(record, profile="quick", dtypes="float32", clauses="A1,Z14,Z15")
    assert certificate.passed, str(certificate)
    assert outcomes(certificate, "Z14") == {"float32": "refused"}
    assert outcomes(certificate, "Z15") == {"float32": "holds"}
    assert "backward returns no gradient of the sinks" in str(certificate)


@pytest.mark.parametrize("sinks", [np.zeros(2), np.zeros((3, 1)), np.array([0.0, np.inf, 0.0])])
def test_what_are_no_sinks_is_told_in_a_line(sinks):
    q = np.zeros((2, 3, 4, 2))
    with pytest.raises(
        ValueError, match="sinks are a number below inf for each of 3 heads"
    ) as told:
        assert_attention(q, q, q, q, sinks=sinks)
    assert "\n" not in str(told.value)


def test_assert_attention_knows_sinks():
    p = core("float32").but(sinks=T)
    q, k, v = (x.astype(np.float32) for x in (p.q, p.k, p.v))
    out = as_a_key(q, k, v, T.astype(np.float32))
    assert_attention(out, q, k, v, sinks=T)
    with pytest.raises(AssertionError, match="at "):
        assert_attention(out, q, k, v)


def test_a_sink_has_its_budget_as_a_key():
    """The definition and one more key agree far within the budget, idle queries included."""
    hidden = np.ones((4, 5), dtype=bool)
    hidden[2] = False
    p = core("float64").but(sinks=np.array([0.5, -np.inf, 2.0]), mask=hidden)
    more = moves.with_the_sink_as_a_key(p)
    off = np.abs(definition.attention(p) - definition.attention(more))
    assert (off <= rounding.of_output(p)).all()
    assert p.idle.any()
    assert not p.idle[:, [0, 2]].any()


@EITHER_WAY
def test_who_takes_no_sinks_is_asked_what_was_asked_before_there_were_any(draw):
    scope = Scope("float32", KINDS - {Capability.SINKS})
    usual, never = (draw(Problems(sinks=x), scope, 60) for x in (None, False))
    for one, other in zip(usual, never, strict=True):
        assert one.sinks is other.sinks is None
        assert (one.seed, one.scale, one.window) == (other.seed, other.scale, other.window)
        assert one.q.tobytes() == other.q.tobytes()


@EITHER_WAY
def test_sinks_are_near_scores_far_above_them_and_none(draw):
    sinks = np.concatenate(
        [p.sinks for p in draw(Problems(sinks=True), Scope("float32", KINDS), 99)]
    )
    assert np.isneginf(sinks).any()
    assert {30.0, -30.0} <= {*sinks}
    assert (np.abs(sinks) < 8).mean() > 0.6


def test_a_counterexample_with_sinks_is_read_back(refused, tmp_path):
    refused.save(tmp_path / "told.json")
    (cause,) = json.loads((tmp_path / "told.json").read_text())["causes"]
    assert cause["counterexample"]["problem"]["sinks"] is not None


def always(query, key, value, sinks=None):
    return dense.attend(query, key, value, sinks=sinks, is_causal=True)


always.conventions = {"causality": "always"}


def test_who_is_always_causal_is_asked_for_sinks_beside_causality():
    found = certify(always, profile="quick", dtypes=["float32"], clauses=["Z"])
    assert found.passed, found
    assert {v.outcome for v in found.verdicts if v.clause == "Z3"} == {"holds"}
