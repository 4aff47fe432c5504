"""Packed functions: certified as they are, equal to separate calls, and told what is no packing."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from implementations import fused, packed
from spec import certify
from spec.entries import eighths
from spec.notation import Array
from tests.night import deep

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",)}
KEPT = ("A1", "A2", "A7", "C15", "W13", "J2", "J9", "J14", "U12", "Z14", "Y13")
TEXTS, OF_KEYS = [0, 3, 3, 7, 8], [0, 5, 6, 6, 8]  # one without queries, one without keys
NO_PACKING = [
    ([1, 3, 3, 7, 8], OF_KEYS, "rise from 0"),
    ([0, 4, 3, 7, 8], OF_KEYS, "rise from 0"),
    (TEXTS, [0, 5, 6, 6, 9], "texts of 9 tokens in all, and there are 8"),
    (TEXTS, [0, 5, 8], "4 texts of queries, and 2 of keys"),
]


def arrays() -> tuple[Array, Array, Array]:
    """Queries, keys and values of eight tokens each."""
    return eighths(8, 4, 2, seed=1), eighths(8, 2, 2, seed=2), eighths(8, 2, 3, seed=3)


def told(starts: list[int], of_keys: list[int]) -> tuple[Array, Array, int, int]:
    return np.array(starts), np.array(of_keys), 4, 5


def test_a_text_among_others_is_what_it_is_alone() -> None:
    """Places start anew in each, and its last query stands at its last key."""
    q, k, v = arrays()
    found = packed.attend(q, k, v, *told(TEXTS, OF_KEYS), causal=True, window_size=(2, -1))
    for (a, b), (c, d) in zip(pairwise(TEXTS), pairwise(OF_KEYS), strict=True):
        one = [packed.as_one(x) for x in (q[a:b], k[c:d], v[c:d])]
        places = np.arange(b - a) + (d - c) - (b - a), np.arange(d - c)
        alone = fused.attend(
            *one,
            is_causal=True,
            window_size=(2, None),
            enable_gqa=True,
            query_positions=places[0][None],
            key_positions=places[1][None],
        )
        np.testing.assert_allclose(found[a:b], packed.unpacked(alone), rtol=1e-14, atol=1e-15)
    assert (found[3:7] == 0).all()  # the text without keys


def test_tokens_behind_the_last_text_are_of_none() -> None:
    q, k, v = arrays()
    k[7] = v[7] = np.nan
    found = packed.attend(q, k, v, *told([0, 3, 7], [0, 5, 7]))
    assert np.isfinite(found[:7]).all()
    assert (found[7] == 0).all()
    dq, dk, dv = packed.attend.backward(
        np.ones((8, 4, 3)), q, k, v, *told([0, 3, 7], [0, 5, 7])[:2]
    )
    assert all((x[7] == 0).all() for x in (dq, dk, dv))


def test_longest_lengths_may_be_longer_than_they_are() -> None:
    q, k, v = arrays()
    exact = packed.attend(q, k, v, *told(TEXTS, OF_KEYS))
    more = packed.attend(q, k, v, *told(TEXTS, OF_KEYS)[:2], 64, 128)
    assert (more == exact).all()


@pytest.mark.parametrize(("starts", "of_keys", "reason"), NO_PACKING)
def test_what_is_no_packing_is_told_in_a_line(
    starts: list[int], of_keys: list[int], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        packed.attend(*arrays(), *told(starts, of_keys))


@pytest.mark.parametrize("clauses", [KEPT, deep(None)])
def test_it_is_certified_with_nothing_declared(clauses: tuple[str, ...] | None) -> None:
    certificate = certify("implementations.packed:attend", **FEW, clauses=clauses)
    assert certificate.passed, str(certificate)
    assert certificate.conventions["positions"] == "in-sequence"
    assert certificate.conventions["causal"] == "bottom-right"
    holding = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert holding >= {*KEPT}
    assert not certificate.refusals


@pytest.mark.deep
@pytest.mark.torch
def test_so_is_its_twin_in_torch() -> None:
    certificate = certify("implementations.packed_torch:attend", **FEW)
    assert certificate.passed, str(certificate)
    holding = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert holding >= {"A1", "A2", "A7", "J2", "J9", "J14", "Z14", "Y13"}


@pytest.mark.deep
@pytest.mark.torch
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["packed", "packed_torch", "kvcache", "kvcache_torch"])
def test_they_are_certified_in_every_format(name: str, seed: int) -> None:
    certificate = certify(f"implementations.{name}:attend", seed=seed)
    assert certificate.passed, str(certificate)
