"""Targets that two changes correct, which show only together: the causes name both."""

from typing import Any

import numpy as np
import pytest

from implementations import dense
from spec import certify
from spec.notation import Array

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "backend": "numpy"}


def forbids_and_doubles(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    scale: float | None = None,
) -> Array:
    """True masks a key, and the default scale is 2 / sqrt(D)."""
    if attn_mask is not None and attn_mask.dtype == bool:
        attn_mask = ~attn_mask
    query = query if scale is not None else 2 * query
    return dense.attend(query, key, value, attn_mask, scale=scale)


def tiles_and_doubles(query: Array, key: Array, value: Array, scale: float | None = None) -> Array:
    """Query head h uses key head h mod G, and the default scale is 2 / sqrt(D)."""
    group = query.shape[1] // key.shape[1]
    query = query if scale is not None else 2 * query
    keys, values = (np.tile(x, (1, group, 1, 1)) for x in (key, value))
    return dense.attend(query, keys, values, scale=scale)


def ends_at_the_last_key(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, is_causal: bool = False
) -> Array:
    """The last query is at the last key, and a query that sees no key gets NaN."""
    N, M = query.shape[2], key.shape[2]
    seen = np.arange(M) <= np.arange(N)[:, None] + M - N if is_causal else np.ones((N, M), bool)
    seen = seen if attn_mask is None else seen & attn_mask
    idle = ~np.broadcast_to(seen, (*query.shape[:3], M)).any(-1, keepdims=True)
    return np.where(idle, np.nan, dense.attend(query, key, value, seen)).astype(value.dtype)


@pytest.mark.quick("tiles*")
@pytest.mark.parametrize(
    ("target", "clauses", "changes"),
    [
        (forbids_and_doubles, ("A1", "M"), {"the scale is given", "mask-means=forbid"}),
        (tiles_and_doubles, ("A1", "H"), {"the scale is given", "grouping=interleaved"}),
        (ends_at_the_last_key, None, {"causal=bottom-right", "fully-masked=nan"}),
    ],
)
def test_both_changes_are_named(target: Any, clauses: Any, changes: set[str]) -> None:
    found = certify(target, **FEW, clauses=clauses)
    lenses = [cause.lens for cause in found.causes]
    assert all(lenses), str(found)
    assert all(any(change in lens for lens in lenses) for change in changes), lenses
    assert found.region.passed
