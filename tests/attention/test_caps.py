"""Caps as others have them: by another name, by 0 for none, not beside a mask, after the bias."""

from functools import partial

import numpy as np
import pytest

from implementations import dense
from spec import assert_attention, certify
from spec.attention import definition, rounding
from spec.attention.domain import Problems
from spec.attention.options import KINDS, Capability
from spec.attention.plug.trials import core
from spec.attention.rounding import capped
from spec.attention.truth import truth
from spec.domain import Scope
from tests.attention.draws import EITHER_WAY
from tests.night import deep

attend = partial(dense.attend, enable_gqa=True)
SMALL = {"backend": "numpy", "dtypes": "float32", "profile": "quick", "clauses": "A1,U"}


def outcomes(certificate):
    return {v.clause: v.outcome for v in certificate.verdicts if v.clause[0] == "U"}


def by_zero(query, key, value, is_causal=False, scale=None, softcap=0.0):
    """0 is no cap, as flash-attn has it, and None is nothing that it knows."""
    return attend(query, key, value, None, is_causal, scale, softcap=float(softcap) or None)


def known_as(query, key, value, logits_soft_cap=None):
    return attend(query, key, value, softcap=logits_soft_cap)


def without_masks(query, key, value, attn_mask=None, scale=None, softcap=None):
    if attn_mask is not None and softcap is not None:
        raise NotImplementedError("a cap is not supported beside a mask")
    return attend(query, key, value, attn_mask, scale=scale, softcap=softcap)


def after_the_bias(query, key, value, attn_mask=None, scale=None, softcap=None):
    """What tokamax does: the bias is capped as well."""
    if softcap is None or attn_mask is None or attn_mask.dtype == bool:
        return attend(query, key, value, attn_mask, scale=scale, softcap=softcap)
    sigma = query.dtype.type(query.shape[-1] ** -0.5 if scale is None else scale)
    s = sigma * (query @ np.repeat(key, query.shape[1] // key.shape[1], 1).swapaxes(-1, -2))
    c = query.dtype.type(softcap)
    bias = np.where(np.isneginf(attn_mask), -np.inf, c * np.tanh((s + attn_mask) / c))
    return attend(0 * query, 0 * key, value, bias.astype(query.dtype))


def swallows(query, key, value, **options):
    """Takes every option that there is, and heeds all but one."""
    options.pop("softcap", None)
    return dense.attend(query, key, value, **options)


def test_a_cap_is_known_by_its_names():
    certificate = certify(known_as, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["U12"] == "holds"


def test_no_cap_is_said_in_the_words_of_the_function():
    assert certify(by_zero, **SMALL).passed


def test_who_refuses_a_mask_beside_it_is_asked_for_caps_alone():
    certificate = certify(without_masks, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["U6"] == outcomes(certificate)["U5"] == "refused"
    assert outcomes(certificate)["U1"] == outcomes(certificate)["U12"] == "holds"
    (refusal,) = certificate.refusals
    assert refusal.what == "takes a mask and a soft-cap together"


def test_who_takes_a_cap_and_ignores_it_is_refused():
    certificate = certify(swallows, **SMALL, fail_fast=True)
    assert not certificate.passed
    assert certificate.failures[0].counterexample.problem.softcap is not None


@pytest.mark.deep
def test_who_takes_a_cap_and_ignores_it_is_told_so():
    certificate = certify(swallows, **SMALL)
    assert not certificate.passed
    assert "a soft-cap" in certificate.causes[0].sentence


@pytest.mark.slow
def test_a_bias_that_is_capped_is_a_convention():
    undeclared = certify(after_the_bias, **SMALL, fail_fast=True)
    assert not undeclared.passed
    assert "--convention softcap=after-bias" in str(undeclared)
    declared = certify(after_the_bias, **SMALL, conventions={"softcap": "after-bias"})
    assert declared.passed, str(declared)
    other = certify(attend, **SMALL, conventions={"softcap": "after-bias"}, fail_fast=True)
    assert not other.passed


@pytest.mark.parametrize(
    ("dtypes", "clauses"), [("float32", ("A1", "A2", "A7", "U")), deep(None, None)]
)
@pytest.mark.parametrize(
    "choice", [("softcap", "after-bias"), ("tanh", "approximate"), ("tanh", "sigmoid")]
)
def test_the_definition_keeps_every_clause_whatever_is_chosen(choice, dtypes, clauses):
    chosen = truth().but(conventions={**truth().chosen, **dict([choice])})
    certificate = certify(chosen, profile="quick", dtypes=dtypes, clauses=clauses)
    assert certificate.passed, str(certificate)
    assert certificate.conventions[choice[0]] == choice[1]


@pytest.mark.parametrize("softcap", [0.0, -1.0, np.inf, np.nan])
def test_what_is_no_cap_is_told_in_a_line(softcap):
    q = np.zeros((1, 1, 2, 2))
    with pytest.raises(ValueError, match="a cap is positive and finite, or None, not") as told:
        assert_attention(q, q, q, q, softcap=softcap)
    assert "\n" not in str(told.value)


@EITHER_WAY
def test_who_takes_no_cap_is_asked_what_was_asked_before_there_were_any(draw):
    scope = Scope("float32", KINDS - {Capability.CAP})
    usual, never = (draw(Problems(caps=x), scope, 60) for x in (None, False))
    for one, other in zip(usual, never, strict=True):
        assert one.softcap is other.softcap is None
        assert (one.seed, one.scale, one.window) == (other.seed, other.scale, other.window)
        assert one.q.tobytes() == other.q.tobytes()


@EITHER_WAY
def test_caps_are_reached_and_not(draw):
    problems = draw(Problems(caps=True), Scope("float32", KINDS), 200)
    over = [np.abs(definition.products(p)).max(initial=0.0) / p.softcap for p in problems]
    assert sum(x > 2 for x in over) > 40
    assert sum(x < 0.5 for x in over) > 40
    asked = [(p.causal, p.mask is not None) for p in problems]
    assert {*asked} == {(a, b) for a in (False, True) for b in (False, True)}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tangent_from_sigmoids_is_within_its_budget_and_beyond_that_of_others(dtype):
    number = np.dtype(dtype).type
    one, two, beyond = number(1), number(2), False
    for c in (0.25, 8.0, 2.0**12):
        usual = core(dtype, H=1, G=1, D=64).but(softcap=c)
        bold = usual.but(sigmoid_tanh=True)
        t = definition.products(usual).astype(dtype)
        y = two / (one + np.exp(-two * t / number(c))) - one
        off = np.abs(number(c) * y - c * np.tanh(t.astype(float) / c))
        zero = np.zeros(t.shape)
        rules = rounding.bounds(usual).scores.rules
        assert (off <= capped.error(np.abs(t), zero, bold, rules)).all()
        beyond |= (off > capped.error(np.abs(t), zero, usual, rules)).any()
    assert beyond


def test_the_budget_of_a_cap_is_none_larger_than_without():
    """It damps: beyond the cap hardly anything is left of the error of a product."""
    plain = core("float32", H=1, G=1, D=64).but(scale=8.0)
    low = plain.but(softcap=1.0)
    eta = rounding.bounds(plain).scores.eta
    rules = rounding.bounds(plain).scores.rules
    t = np.abs(definition.products(plain))
    after = capped.error(t, eta, low, rules)
    assert (after <= eta + 16 * rules.u).all()
    far = t > 20
    assert far.any()
    assert (after[far] <= 16 * rules.u).all()
