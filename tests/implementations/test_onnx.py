"""ONNX's reference evaluator: attention in most of what it takes, and where it is none."""

from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.attention import definition
from spec.attention.notation import Problem
from spec.certification.ledger.certificate import Certificate

pytestmark = pytest.mark.onnx

TARGET = "spec.adapters.onnx_attention:attend"
LOST = "(a key in the future and a padding mask and N > 1)"  # causality of all queries but one
BELOW = "a scale below zero"  # of which a root is taken


def imported() -> Any:
    from spec.adapters.onnx_attention import attend

    return attend


def judged(where: str, *dtypes: str) -> Certificate:
    return certify(TARGET, profile="quick", dtypes=dtypes or None, where=where)


def test_it_is_attention_where_no_scale_is_asked_for():
    certificate = judged(f"not {LOST} and no scale other than 1")
    assert certificate.passed, str(certificate)
    assert {verdict.dtype for verdict in certificate.verdicts} == {"float64", "float32", "float16"}


def test_in_float32_it_is_with_any_scale_that_has_a_root():
    certificate = judged(f"not {LOST} and not {BELOW}", "float32")
    assert certificate.passed, str(certificate)


def test_elsewhere_it_is_not():
    certificate = certify(TARGET, profile="quick", dtypes=("float32",))
    told = " ".join(str(certificate).split())
    assert f"where {BELOW}, the output is NaN" in told
    assert f"where {LOST[1:-1]}, the output is wrong" in told
    assert len(certificate.causes) == 2


def test_a_row_of_a_mask_beside_causality_hides_the_future_of_the_first_query_from_all():
    """`_apply_causal` counts the queries of the mask, of which there may be one for all."""
    attend = imported()
    chance = np.random.default_rng(0)
    q, k, v = (chance.standard_normal((1, 1, 3, 2)) for _ in range(3))
    every = np.ones((1, 3), bool)
    problem = Problem(q, k, v, np.zeros_like(q), mask=every, causal=True)

    o = attend(q, k, v, attn_mask=every, is_causal=True)

    np.testing.assert_allclose(o, v[:, :, [0, 0, 0]])
    np.testing.assert_allclose(
        attend(q, k, v, attn_mask=np.ones((3, 3), bool), is_causal=True),
        definition.attention(problem),
    )


def test_a_scale_and_its_root_are_of_float32_whatever_the_arrays_are():
    attend = imported()
    chance = np.random.default_rng(0)
    q, k, v = (chance.standard_normal((1, 1, 3, 2)) for _ in range(3))
    asked, given = (
        definition.attention(Problem(q, k, v, np.zeros_like(q), scale=scale))
        for scale in (0.3, float(np.sqrt(np.float32(0.3))) ** 2)
    )

    o = attend(q, k, v, scale=0.3)

    np.testing.assert_allclose(o, given, rtol=1e-14)
    assert np.abs(o - asked).max() > 1e-10
