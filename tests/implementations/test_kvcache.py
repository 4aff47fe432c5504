"""Keys from a cache: certified as they are, equal to rows, and told what is no cache."""

from typing import Any

import numpy as np
import pytest

from implementations import fused, kvcache
from implementations.packed import as_one, unpacked
from spec import certify
from spec.entries import eighths
from spec.notation import Array

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",)}
LENGTHS, TABLE = np.array([5, 0, 4]), np.array([[3, 0, 5], [-1, 99, 2], [1, 4, -1]])
NO_CACHE = [
    ([5, 0], TABLE, r"lengths \(2,\), a table \(3, 3\), 3 sequences"),
    (LENGTHS, TABLE[:2], r"a table \(2, 3\), 3 sequences"),
    ([5, -1, 4], TABLE, r"lengths \[5, -1, 4\], 0 new keys, and room for 6"),
    ([7, 0, 4], TABLE, "and room for 6"),
    (LENGTHS, TABLE + 3, "pages .*, and there are 6"),
    ([5, 1, 4], TABLE, "pages .*, and there are 6"),
    (LENGTHS, None, r"a table \(6, 1\), 3 sequences"),
]


def pages() -> tuple[Array, Array, Array]:
    """Queries of three sequences, and six pages of two places."""
    return eighths(3, 2, 4, 2, seed=1), eighths(6, 2, 2, 2, seed=2), eighths(6, 2, 2, 3, seed=3)


def test_a_sequence_is_what_it_is_in_a_row() -> None:
    """Its last query stands at its last key, and the sequence without keys gets zeros."""
    q, k, v = pages()
    found = kvcache.attend(q, k, v, LENGTHS, TABLE, causal=True, window_size=(2, -1))
    for b in (0, 2):
        n = int(LENGTHS[b])
        rows = (x[TABLE[b, : -(-n // 2)]].reshape(-1, *x.shape[2:])[:n] for x in (k, v))
        alone = fused.attend(
            as_one(q[b]),
            *map(as_one, rows),
            is_causal=True,
            window_size=(2, None),
            enable_gqa=True,
            query_positions=np.arange(n - 2, n)[None],
            key_positions=np.arange(n)[None],
        )
        assert (found[b] == unpacked(alone)).all()
    assert (found[1] == 0).all()


def test_order_and_number_of_pages_change_no_bit() -> None:
    """Nor does what lies in other pages, or behind the last key."""
    q, k, v = pages()
    order = np.array([4, 2, 0, 5, 1, 3])
    moved = [np.full((9, 2, 2, x.shape[3]), np.nan) for x in (k, v)]
    for x, y in zip(moved, (k, v), strict=True):
        x[order] = y
        x[order[5], 1] = np.nan  # behind the last key of the first sequence
    table = order[np.clip(TABLE, 0, 5)]
    found = kvcache.attend(q, *moved, LENGTHS, table, return_softmax_lse=True)
    want = kvcache.attend(q, k, v, LENGTHS, TABLE, return_softmax_lse=True)
    for x, y in zip(found, want, strict=True):
        assert (x == y).all()


@pytest.mark.parametrize(("lengths", "table", "reason"), NO_CACHE)
def test_what_is_no_cache_is_told_in_a_line(lengths: Any, table: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        kvcache.attend(*pages(), np.asarray(lengths), table)


@pytest.mark.slow
def test_it_is_certified_with_nothing_declared() -> None:
    certificate = certify("implementations.kvcache:attend", **FEW)
    assert certificate.passed, str(certificate)
    assert certificate.conventions["positions"] == "in-sequence"
    assert certificate.conventions["causal"] == "bottom-right"
    holding = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert holding >= {"A1", "A7", "C15", "W13", "J2", "J9", "U12"}
    assert not certificate.refusals


@pytest.mark.deep
@pytest.mark.torch
def test_so_is_its_twin_in_torch() -> None:
    certificate = certify("implementations.kvcache_torch:attend", **FEW)
    assert certificate.passed, str(certificate)
    holding = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert holding >= {"A1", "A7", "J2", "J9"}
