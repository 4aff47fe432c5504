"""First keys that stay in sight of a window, as others have them and as others ask for them."""

import numpy as np
import pytest

from implementations import dense, split
from spec import assert_attention, certify
from spec.attention.notation import Problem
from spec.notation import Array
from tests.night import deep

SMALL = {"profile": "quick", "dtypes": ("float32",)}


def streaming(
    query: Array, key: Array, value: Array, window_size: tuple[int, int], num_sink_tokens: int = 0
) -> Array:
    """A stranger's, that says its bounds and calls its first keys otherwise."""
    return dense.attend(query, key, value, window_size=window_size, sink_size=num_sink_tokens)


def from_the_window(
    query: Array, key: Array, value: Array, window_size: tuple[int, int], sink_size: int = 0
) -> Array:
    """The same with room for a window alone, the first keys among its keys."""
    left, right = window_size
    left = left if left is None else max(left - sink_size, 0)
    return dense.attend(query, key, value, window_size=(left, right), sink_size=sink_size)


@pytest.mark.parametrize("clauses", [("A1", "A2", "A7", "W"), deep(None)])
def test_another_name_for_them_is_found(clauses):
    certificate = certify(streaming, **SMALL, clauses=clauses)
    assert certificate.passed, str(certificate)
    held = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert {"W17", "W18", "W19", "W20", "W23"} - held == {"W23"}  # it has no positions


@pytest.mark.slow
@pytest.mark.parametrize("clauses", [("A1", "W"), deep(None)])
def test_who_takes_them_from_the_window_is_told_where(clauses):
    certificate = certify(from_the_window, **SMALL, clauses=clauses)
    assert len(certificate.causes) == 1
    told = " ".join(str(certificate).split())
    assert "with a leading key before the window" in told, told
    assert "(takes_first_keys_from_the_window, " in told, told


def test_they_are_keys_of_the_text():
    chance = np.random.default_rng(0)
    q, k, v = (chance.standard_normal((1, 2, 6, 4)) for _ in range(3))
    o = dense.attend(q, k, v, window_size=(1, 0), sink_size=2)
    assert_attention(o, q, k, v, window_size=(1, 0), sink_size=2)
    assert_attention(o, q, k, v, window_size=(1, 0), num_sink_tokens=2)
    with pytest.raises(AssertionError, match="within"):
        assert_attention(o, q, k, v, window_size=(1, 0), sink_size=1)


@pytest.mark.parametrize("first", [-1, 1.5, "two", None])
def test_what_is_no_number_of_keys_is_told_in_a_line(first: object):
    x = np.zeros((1, 1, 3, 2))
    with pytest.raises(ValueError, match="first keys are a number of keys from 0 up") as refused:
        Problem(x, x, x, x, window=(1, 0), first=first)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_who_has_none_is_not_asked_for_any():
    certificate = certify(split.attend, **SMALL, clauses="W16")
    assert "not supported" in str(certificate)
    assert certificate.passed


def refuses_sinks(
    query: Array,
    key: Array,
    value: Array,
    window_size: tuple[int, int],
    sink_size: int = 0,
    sinks: Array | None = None,
) -> Array:
    """Takes either, and not both."""
    if sink_size and sinks is not None:
        raise ValueError("no first keys beside sinks")
    return dense.attend(
        query, key, value, window_size=window_size, sink_size=sink_size, sinks=sinks
    )


def test_what_is_refused_beside_them_is_told_once_and_not_asked():
    certificate = certify(refuses_sinks, **SMALL)
    assert certificate.passed, str(certificate)
    assert "unsupported: leading keys and attention sinks together [float32]" in str(certificate)
    assert "sometimes raises" not in str(certificate)
