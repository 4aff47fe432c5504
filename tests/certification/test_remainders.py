"""A cause that depends on the remainder of a length, as where the last tile holds a single key."""

from typing import Any

import numpy as np
import pytest

from implementations import dense
from spec import certify
from spec.notation import Array

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "backend": "numpy"}


def skips_the_last_tile(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, is_causal: bool = False
) -> Array:
    """Wrong in the last tile of 32 queries if one of 16 keys holds a single one."""
    out = dense.attend(query, key, value, attn_mask, is_causal)
    N, M = query.shape[2], key.shape[2]
    if is_causal and attn_mask is not None and M > 16 and M % 16 == 1:
        out[:, :, (N - 1) // 32 * 32 :] = np.nan
    return out


@pytest.mark.slow
def test_the_remainder_is_named() -> None:
    (cause,) = certify(skips_the_last_tile, **FEW).causes
    assert "M % 16 = 1" in cause.features, cause.sentence
