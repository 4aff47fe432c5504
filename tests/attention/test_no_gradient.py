"""A gradient that autograd has not is not offered; by one input of several it is zeros."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from spec import certify
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.subject import NoGradient
from tests.targets.faulty_torch import detaches_the_sinks

pytestmark = pytest.mark.torch
QUICK: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "backend": "torch"}


def forgets_the_mask(query, key, value, attn_mask=None):  # type: ignore[no-untyped-def]
    """A constant, to those who differentiate: what is returned says nothing of the mask."""
    return sdpa(query, key, value, None if attn_mask is None else attn_mask.detach())


def detaches_the_keys(query, key, value):  # type: ignore[no-untyped-def]
    return sdpa(query, key.detach(), value)


def detaches_all(query, key, value):  # type: ignore[no-untyped-def]
    return sdpa(query, key, value).detach()


class DetachesTheWeights(torch.nn.MultiheadAttention):
    """Nobody can train it."""

    def forward(self, *inputs: Any, **options: Any) -> Any:
        out, weights = super().forward(*inputs, **options)
        return out.detach(), weights


class ForgetsTheKeys(torch.nn.MultiheadAttention):
    """Nobody can train its keys."""

    def forward(self, query: Any, key: Any, value: Any, **options: Any) -> Any:
        return super().forward(query, key.detach(), value, **options)


def outcomes(
    target: Callable[..., Any], clauses: str, **options: Any
) -> dict[str, tuple[str, str]]:
    found = certify(target, **{**QUICK, **options}, clauses=clauses)
    return {v.clause: (v.outcome, v.message) for v in found.verdicts}


def test_a_mask_without_a_gradient_has_none_to_offer() -> None:
    found = outcomes(forgets_the_mask, "A1,A2,A5")
    assert found["A5"] == ("not offered", "has a gradient of the additive mask")
    assert found["A2"][0] == "holds"


def test_it_is_printed_as_not_offered() -> None:
    found = certify(forgets_the_mask, **QUICK, clauses="A1,A5")
    assert found.exit_code == 0, found
    said = " ".join(str(found).split())
    assert "not supported, so not tested: a gradient of the additive mask" in said
    assert "unsupported: a gradient" not in said


def test_sinks_that_are_never_trained_are_told_in_the_first_lines() -> None:
    """And are a clause that should hold: the others cannot be asked."""
    found = certify(detaches_the_sinks, **QUICK, clauses="A1,Z14,Z18")
    outcome = {v.clause: (v.outcome, v.force) for v in found.verdicts}
    assert outcome["Z14"] == ("not offered", "must")
    assert outcome["Z18"] == ("violated", "should")
    assert found.exit_code == 0
    head, _, _ = " ".join(str(found).split()).partition("conventions")
    assert "not tested the gradient of the attention sinks: there is none" in head


def test_sinks_that_are_trained_are_not() -> None:
    def trains(query, key, value, sinks=None):  # type: ignore[no-untyped-def]
        s = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        t = [] if sinks is None else [sinks[:, None, None].expand(*s.shape[:-1], 1)]
        return torch.cat([s, *t], dim=-1).softmax(-1)[..., : key.shape[2]] @ value

    found = certify(trains, **QUICK, clauses="A1,Z14,Z18")
    assert {v.outcome for v in found.verdicts} == {"holds"}
    assert "the gradient of the attention sinks" not in str(found)


def test_a_function_that_cannot_be_trained_offers_no_gradients() -> None:
    found = outcomes(detaches_all, "A1,A2,A5")
    assert found["A1"][0] == "holds"
    assert found["A2"] == ("not offered", "has gradients of q, k and v")


def test_keys_that_were_detached_are_wrong() -> None:
    found = outcomes(detaches_the_keys, "A2,A3", fail_fast=True)
    assert found["A2"][0] == "holds"
    assert found["A3"][0] == "violated"


def test_where_a_gradient_is_zero_it_may_be_none() -> None:
    """Without a scale to speak of, no score depends on a query."""

    def attend(query, key, value, scale=None):  # type: ignore[no-untyped-def]
        if scale == 0:
            return value.mean(dim=2, keepdim=True).expand(-1, -1, query.shape[2], -1)
        return sdpa(query, key, value, scale=scale)

    record = implementation(attend, backend="torch")
    found = record.backward(core("float32", D=3).but(scale=0.0))
    assert not found.q.any()
    assert found.v.any()


def test_none_is_said_where_there_is_none() -> None:
    record = implementation(forgets_the_mask, backend="torch")
    with pytest.raises(NoGradient, match="autograd has no gradient"):
        record.bias_gradient(core("float32").but(mask=np.zeros((4, 5))))


@pytest.mark.slow
def test_a_layer_is_held_to_the_same() -> None:
    options: dict[str, Any] = {"kind": "layer"}
    found = outcomes(DetachesTheWeights, "L1,L2,L5", **options)
    assert {o for o, _ in found.values()} == {"holds", "not offered"}
    wrong = outcomes(ForgetsTheKeys, "L1,L2,L3", **options, fail_fast=True)
    assert "violated" in {o for o, _ in wrong.values()}
