"""Additive masks in float32 with arrays of 16 bits, as mixed precision has them."""

import numpy as np
import pytest

from spec.attention.notation import Problem
from spec.attention.options import Capability, kinds_of
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.comparison import Violation
from spec.notation import Array
from spec.subject import Refused
from tests import targets


def mixed(dtype: str = "float16") -> Problem:
    return core(dtype).but(mask=np.linspace(-1, 1, 20).reshape(4, 5).astype(np.float32))


def test_such_a_mask_is_passed_in_float32_where_arrays_have_16_bits() -> None:
    seen = []

    def noting(query: Array, key: Array, value: Array, attn_mask: Array | None = None) -> Array:
        assert attn_mask is not None
        seen.append((str(query.dtype), str(attn_mask.dtype)))
        return targets.right(query, key, value, attn_mask)

    for dtype in ("float16", "float32", "float64"):
        implementation(noting, backend="numpy").forward(mixed(dtype))
        assert (Capability.MIXED in kinds_of(mixed(dtype))) == (dtype == "float16")
    assert seen == [("float16", "float32"), ("float32", "float32"), ("float64", "float64")]


def test_an_output_in_the_dtype_of_the_mask_is_no_error() -> None:
    def promotes(query: Array, key: Array, value: Array, attn_mask: Array | None = None) -> Array:
        return targets.right(query, key, value, attn_mask).astype(np.float32)

    record = implementation(promotes, backend="numpy")
    with pytest.raises(Refused, match="dtype of the mask"):
        record.forward(mixed())
    with pytest.raises(Violation, match="wrong dtype"):
        record.forward(core("float16"))
