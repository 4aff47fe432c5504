"""A cause that one condition describes says what to do, where there is something to do."""

import math
from typing import Any

import numpy as np
import pytest

from implementations.dense import attend as dense
from spec import certify
from spec.kinds import KINDS


def of_booleans(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    """Attention that reads every mask as booleans."""
    mask = None if attn_mask is None else attn_mask.astype(bool)
    return dense(query, key, value, mask)


def of_numbers(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    """Attention that adds every mask."""
    mask = None if attn_mask is None else attn_mask.astype(query.dtype)
    return dense(query, key, value, mask)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "mask"), [(of_booleans, "additive mask"), (of_numbers, "boolean mask")]
)
def test_masks_of_one_kind_are_to_be_declared(target: Any, mask: str) -> None:
    few: dict[str, Any] = {"profile": "quick", "dtypes": ("float64",), "clauses": "A1,M1"}
    certificate = certify(target, backend="numpy", **few)
    (cause,) = certificate.causes
    assert f"an {mask}" in cause.features or f"a {mask}" in cause.features
    said = " ".join(str(certificate).split())
    alone = len(cause.features) == 1
    assert (f'or test it with --where "no {mask}".' in said) is alone
    assert certify(target, backend="numpy", where=f"no {mask}", **few).passed


def in_float32(query: Any, key: Any, value: Any) -> Any:
    """Attention that returns float32 for inputs of any dtype."""
    return dense(*(x.astype(np.float32) for x in (query, key, value)))


@pytest.mark.slow
def test_formats_in_which_nothing_fails_are_named() -> None:
    few: dict[str, Any] = {"profile": "quick", "clauses": "A1"}
    certificate = certify(in_float32, backend="numpy", dtypes=("float64", "float32"), **few)
    said = " ".join(str(certificate).split())
    meant = "If the target is meant for it alone, test it with --dtype float32."
    assert f"Nothing fails in float32. {meant}" in said
    assert certify(in_float32, backend="numpy", dtypes=("float32",), **few).passed
    wrong = certify(in_float32, backend="numpy", dtypes=("float64",), **few)
    assert "Nothing fails in" not in str(wrong)


def test_a_hint_is_about_a_condition_that_there_is() -> None:
    for kind in KINDS.values():
        for condition in kind.reports.hints:
            assert kind.features.sentence(condition)


def promoting(query: Any, key: Any, value: Any) -> Any:
    """Attention that divides by a scalar of NumPy, which is float64."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def test_a_scalar_that_makes_results_float64_is_told() -> None:
    found = certify(promoting, profile="quick", dtypes=("float32",), clauses=("A1",))
    assert found.causes[0].lens == "correct if the output is cast to the dtype of the queries"
    assert "A NumPy scalar such as np.sqrt(8) is float64" in " ".join(str(found).split())


def adding_in_float16(query: Any, key: Any, value: Any) -> Any:
    """Attention with `np.einsum`, which adds in float16 here: float32 is right."""
    scale = math.sqrt(query.shape[-1])
    scores = np.einsum("bhqd,bhkd->bhqk", query, key) / scale
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", weights, value)


@pytest.mark.slow
def test_sums_of_einsum_in_float16_are_told() -> None:
    found = certify(adding_in_float16, profile="quick", dtypes=("float32", "float16"), clauses="A1")
    assert "Use @, or compute in float32." in " ".join(str(found).split())
