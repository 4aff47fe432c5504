"""Slopes as others have them: by another name, from another corner, signed, one for each head."""

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
from spec.attention.truth import truth
from spec.domain import Scope
from tests.attention.draws import EITHER_WAY
from tests.night import deep

attend = partial(dense.attend, enable_gqa=True)
SMALL = {"backend": "numpy", "dtypes": "float32", "profile": "quick", "clauses": "A1,Y"}
M = np.array([0.5, -0.25, 2.0])
CORNER, SIGNED = ("slopes-alignment", "bottom-right"), ("slopes-ahead", "signed")
CHOICES = (CORNER, SIGNED, ("causal", "bottom-right"))


def outcomes(certificate):
    return {v.clause: v.outcome for v in certificate.verdicts if v.clause[0] == "Y"}


def known_as(query, key, value, slopes=None):
    return attend(query, key, value, alibi_slopes=slopes)


def with_bias(query, key, value, slopes, places, mask, **options):
    """Slopes as a bias of distances that somebody else has made.   places: (N, M)"""
    if slopes is None:
        return attend(query, key, value, mask, **options)
    m = slopes.reshape(-1, query.shape[1], 1, 1)
    bias = (-m * places).astype(query.dtype)
    if mask is not None:
        bias = np.where(mask, bias, -np.inf) if mask.dtype == bool else bias + mask
    return attend(query, key, value, bias.astype(query.dtype), **options)


def behind(query, key, first=0):
    return first + np.arange(query.shape[2])[:, None] - np.arange(key.shape[2])


def from_the_end(query, key, value, attn_mask=None, alibi_slopes=None):
    """What flash-attn does: the queries are the last of the text."""
    places = np.abs(behind(query, key, key.shape[2] - query.shape[2]))
    return with_bias(query, key, value, alibi_slopes, places, attn_mask)


def signed(query, key, value, attn_mask=None, alibi_slopes=None):
    """What cuDNN and FlashInfer do: m (j - i) is added."""
    return with_bias(query, key, value, alibi_slopes, behind(query, key), attn_mask)


def without_masks(query, key, value, attn_mask=None, scale=None, alibi_slopes=None):
    if attn_mask is not None and alibi_slopes is not None:
        raise NotImplementedError("slopes are not supported beside a mask")
    return attend(query, key, value, attn_mask, scale=scale, alibi_slopes=alibi_slopes)


def of_heads(query, key, value, alibi_slopes=None):
    if alibi_slopes is not None and alibi_slopes.ndim == 2:
        raise ValueError("slopes are (heads,)")
    return attend(query, key, value, alibi_slopes=alibi_slopes)


def swallows(query, key, value, **options):
    """Takes every option that there is, and heeds all but one."""
    options.pop("alibi_slopes", None)
    return dense.attend(query, key, value, **options)


def test_slopes_are_known_by_their_names():
    certificate = certify(known_as, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["Y12"] == "holds"


def test_who_refuses_a_mask_beside_them_is_asked_for_slopes_alone():
    certificate = certify(without_masks, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["Y15"] in ("refused", "not offered")
    assert outcomes(certificate)["Y5"] == outcomes(certificate)["Y12"] == "holds"
    (refusal,) = certificate.refusals
    assert refusal.what == "takes a mask and ALiBi slopes together"


def test_who_has_one_slope_for_every_sequence_is_asked_for_no_others():
    certificate = certify(of_heads, **SMALL)
    assert certificate.passed, str(certificate)
    assert {x: outcomes(certificate)[x] for x in ("Y3", "Y4")} == {"Y3": "holds", "Y4": "refused"}
    (refusal,) = certificate.refusals
    assert refusal.what == "takes ALiBi slopes per sequence"


@pytest.mark.parametrize("fast", [True, deep(False)])
def test_who_takes_slopes_and_ignores_them_is_refused(fast):
    certificate = certify(swallows, **SMALL | {"clauses": "A1"}, fail_fast=fast)
    assert not certificate.passed
    assert certificate.failures[0].counterexample.problem.slopes is not None
    assert fast or "slopes" in certificate.causes[0].sentence


@pytest.mark.parametrize(("target", "name", "choice"), [(from_the_end, *CORNER), (signed, *SIGNED)])
def test_places_and_signs_are_conventions(target, name, choice):
    undeclared = certify(target, **SMALL, fail_fast=True)
    assert not undeclared.passed
    assert f"--convention {name}={choice}" in str(undeclared)
    declared = certify(target, **SMALL, conventions={name: choice})
    assert declared.passed, str(declared)
    other = certify(known_as, **SMALL, conventions={name: choice}, fail_fast=True)
    assert not other.passed


@pytest.mark.parametrize(
    ("dtypes", "clauses"), [("float32", ("A1", "A2", "A7", "C", "Y")), deep(None, None)]
)
@pytest.mark.parametrize("choice", CHOICES)
def test_the_definition_keeps_every_clause_whatever_is_chosen(choice, dtypes, clauses):
    chosen = truth().but(conventions={**truth().chosen, **dict([choice])})
    certificate = certify(chosen, profile="quick", dtypes=dtypes, clauses=clauses)
    assert certificate.passed, str(certificate)
    assert certificate.conventions[choice[0]] == choice[1]


@pytest.mark.torch
@pytest.mark.parametrize("clauses", ["A1,Y13,Y14", deep("A1,Y")])
def test_torch_differentiates_slopes(clauses):
    """By the library, in float32 where all else has 16 bits, and held to no less where strict."""
    import torch

    def in_torch(query, key, value, alibi_slopes=None):
        wide = torch.promote_types(query.dtype, torch.float32)
        s = query.to(wide) @ key.to(wide).transpose(-1, -2) * query.shape[-1] ** -0.5
        if alibi_slopes is not None:
            places = torch.arange(query.shape[2])[:, None] - torch.arange(key.shape[2])
            s = s - alibi_slopes.view(-1, query.shape[1], 1, 1) * places.abs()
        return (s.softmax(-1) @ value.to(wide)).to(query.dtype)

    seen = SMALL | {"dtypes": ("float64", "float32", "bfloat16"), "clauses": clauses}
    certificate = certify(in_torch, **seen | {"backend": "torch"})
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["Y13"] == outcomes(certificate)["Y14"] == "holds"
    assert certificate.conventions.get("rounding bfloat16", "strict") == "strict"


def test_slopes_come_in_float32_beside_16_bits():
    seen = set()

    def watched(query, key, value, alibi_slopes=None):
        if alibi_slopes is not None:
            seen.add((str(query.dtype), str(alibi_slopes.dtype), alibi_slopes.flags.c_contiguous))
        return attend(query, key, value, alibi_slopes=alibi_slopes)

    own = {"float64": "float64", "float32": "float32", "float16": "float32"}
    certify(watched, **SMALL | {"dtypes": (*own,), "clauses": "Y12"})
    assert seen == {(x, y, True) for x, y in own.items()}


def of_slopes(dout, query, key, value, alibi_slopes=None):
    """dq, dk, dv and dslopes, by their names."""
    q, k, v, do = (x.astype(np.float64) for x in (query, key, value, dout))
    slopes = None if alibi_slopes is None else alibi_slopes + 0.0
    found = definition.gradients(core("float64").but(q=q, k=k, v=v, dout=do, slopes=slopes))
    named = {"query": found.q, "key": found.k, "value": found.v}
    if slopes is not None:
        named["alibi_slopes"] = found.slopes
    return {name: x.astype(query.dtype) for name, x in named.items()}


def test_a_backward_may_return_gradients_by_their_names():
    record = implementation(of_heads, backend="numpy", backward=of_slopes)
    problem = core("float32").but(slopes=M)
    right = definition.gradients(problem)
    np.testing.assert_array_equal(record.backward(problem).k, right.k.astype(np.float32))
    np.testing.assert_array_equal(record.slope_gradient(problem), right.slopes.astype(np.float32))
    certificate = certify(record, profile="quick", dtypes="float32", clauses="A1,Y13,Y14")
    assert certificate.passed, str(certificate)
    assert outcomes(certificate) == {"Y13": "holds", "Y14": "holds"}


def test_who_returns_three_gradients_has_none_of_the_slopes():
    def three(dout, query, key, value, alibi_slopes=None):
        return [*of_slopes(dout, query, key, value, alibi_slopes).values()][:3]

    record = implementation(of_heads, backend="numpy", backward=three)
    certificate = certify(record, profile="quick", dtypes="float32", clauses="A1,Y13,Y14")
    assert certificate.passed, str(certificate)
    assert outcomes(certificate) == {"Y13": "refused", "Y14": "holds"}
    assert "backward returns no gradient of the slopes" in str(certificate)


@pytest.mark.parametrize(
    "slopes", [np.zeros(2), np.zeros((1, 3)), np.array([0.0, np.inf, 0.0]), np.full(3, np.nan)]
)
def test_what_are_no_slopes_is_told_in_a_line(slopes):
    q = np.zeros((2, 3, 4, 2))
    with pytest.raises(ValueError, match=r"slopes are finite numbers of the shape \(3,\)") as told:
        assert_attention(q, q, q, q, alibi_slopes=slopes)
    assert "\n" not in str(told.value)


def test_assert_attention_knows_slopes():
    p = core("float32").but(slopes=M)
    q, k, v = (x.astype(np.float32) for x in (p.q, p.k, p.v))
    out = known_as(q, k, v, M.astype(np.float32))
    assert_attention(out, q, k, v, slopes=M)
    with pytest.raises(AssertionError, match="at "):
        assert_attention(out, q, k, v)
    last = from_the_end(q, k, v, alibi_slopes=M.astype(np.float32))
    assert_attention(last, q, k, v, slopes=M, conventions={"slopes-alignment": "bottom-right"})
    ahead = signed(q, k, v, alibi_slopes=M.astype(np.float32))
    assert_attention(ahead, q, k, v, slopes=M, conventions={"slopes-ahead": "signed"})


def test_slopes_have_the_budget_of_their_bias_and_a_product():
    """As a mask they cost one rounding less; the two answers agree far within either budget."""
    for changes in ({}, {"sinks": np.array([0.5, -np.inf, 2.0])}, {"softcap": 0.5}):
        p = core("float64", **changes).but(slopes=M)
        written = moves.with_slopes_as_a_bias(p)
        off = np.abs(definition.attention(p) - definition.attention(written))
        assert (off <= rounding.of_output(written)).all()
        assert (rounding.of_output(written) < rounding.of_output(p)).all()


@EITHER_WAY
def test_who_takes_no_slopes_is_asked_what_was_asked_before_there_were_any(draw):
    scope = Scope("float32", KINDS - {Capability.SLOPES})
    usual, never = (draw(Problems(slopes=x), scope, 60) for x in (None, False))
    for one, other in zip(usual, never, strict=True):
        assert one.slopes is other.slopes is None
        assert (one.seed, one.scale, one.window) == (other.seed, other.scale, other.window)
        assert one.q.tobytes() == other.q.tobytes()


@EITHER_WAY
def test_slopes_are_those_of_models_and_others(draw):
    problems = draw(Problems(slopes=True), Scope("float32", KINDS), 400)
    slopes = np.concatenate([p.slopes.reshape(-1) for p in problems])
    assert (slopes == slopes.astype(np.float32)).all()
    assert {0.0, -1.0, 16.0, 2.0**-8} <= {*slopes}
    assert ((slopes > 0) & (slopes <= 0.5)).mean() > 0.6
    assert {p.slopes.ndim for p in problems} == {1, 2}
    assert len({(p.causal, p.mask is None, p.softcap is None) for p in problems}) == 8
