"""Layers that are causal in every call, described without saying so, right but for that or not."""

import pytest

from spec import certify
from tests.layer.test_described import of_nanogpt

OPTIONS = {"profile": "quick", "dtypes": ("float32",), "clauses": ("L1", "L2", "L36")}


@pytest.mark.torch
def test_a_layer_that_is_right_but_for_causality_is_correct_under_the_convention() -> None:
    record = of_nanogpt("CausalSelfAttention").but(conventions={})
    certificate = certify(record, **OPTIONS)  # type: ignore[arg-type]
    (cause,) = certificate.causes
    assert cause.lens.startswith("correct under the convention causality=always: declare it with")
    assert {*cause.clauses} == {"L1", "L2", "L36"}, "all that fail, fail for it"
    assert "with the change of cause 1, correct on all problems" in str(certificate)


@pytest.mark.torch
def test_a_wrong_scale_is_found_beside_causality_that_nobody_declared() -> None:
    record = of_nanogpt("Unscaled").but(conventions={})
    certificate = certify(record, **OPTIONS)  # type: ignore[arg-type]
    assert len(certificate.causes) == 2, certificate
    said = " ".join(str(certificate).split())
    assert "1. seems to follow the convention causality=always: declare it with" in said
    assert "with it, the causes below are left" in said
    assert "2. looks like: Does not divide the scores by the square root of the head size" in said
