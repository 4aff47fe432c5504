"""Rounding to a format is what NumPy does, and what the bits of bfloat16 say.

NumPy has no bfloat16, so numbers of every format are held in float64 and rounded to it by
arithmetic. That is compared with conversions that know nothing of it: NumPy's own, and the
upper half of the bits of a float32.
"""

import numpy as np
import pytest

from spec.formats import FORMATS, on_the_grid, rounded
from spec.notation import Array


def bits_of_bfloat16(x: Array) -> Array:
    """Rounding to bfloat16 on the bits of a float32, to nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.int64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def many_numbers() -> Array:
    """float32 numbers of every size: ties between neighbours, subnormals, the largest, zeros."""
    chance = np.random.default_rng(0)
    bits = chance.integers(0, 2**32, 20_000, dtype=np.uint64).astype(np.uint32)
    bits = np.concatenate([bits, bits & np.uint32(0xFFFF8000), bits & np.uint32(0x807FFFFF)])
    floats = bits.view(np.float32)
    x = floats[np.isfinite(floats)].astype(np.float64)
    return np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, 65519.9, 65520.0, 2.0**-25]])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_rounding_is_that_of_numpy(dtype: str) -> None:
    x = many_numbers() * np.float64(1 + 2.0**-13)
    np.testing.assert_array_equal(rounded(x, dtype), on_the_grid(x, dtype))
    assert not np.shares_memory(rounded(x, dtype), x)


def test_rounding_to_bfloat16_is_that_of_its_bits() -> None:
    x = many_numbers()
    np.testing.assert_array_equal(rounded(x, "bfloat16"), bits_of_bfloat16(x))


def test_rounding_long_doubles_rounds_once() -> None:
    halfway = np.longdouble(1) + np.longdouble(2) ** -24
    above = halfway + np.longdouble(2) ** -60
    nearest = 1 + 2.0**-23 if above > halfway else 1.0  # where long double is float64, a tie
    for round_to in (rounded, on_the_grid):
        assert round_to(np.array([above]), "float32")[0] == nearest
        assert round_to(np.array([halfway]), "float32")[0] == 1


def test_a_long_double_beyond_float64_becomes_infinite_and_warns_of_nothing() -> None:
    large = np.sqrt(np.finfo(np.longdouble).max)
    want = np.inf if large > np.finfo(np.float64).max else float(large)
    assert rounded(np.array([large, -large, 1]), "float64").tolist() == [want, -want, 1]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_formats_are_those_of_numpy(dtype: str) -> None:
    form, info = FORMATS[dtype], np.finfo(dtype)
    assert (form.u, form.tiny) == (float(info.eps) / 2, float(info.tiny))
    assert (form.sub, form.max) == (float(info.smallest_subnormal), float(info.max))
