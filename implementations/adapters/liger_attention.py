"""Liger-Kernel's fused neighborhood attention, a window on both sides, in Triton's interpreter.

Arrays are (batch, heads, length, width), all of one shape. A neighborhood of k places is
(k - 1) / 2 on either side of the query, and ends where the text does. There is always one.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: kernels run on a CPU

from liger_kernel.ops.fused_neighborhood_attention import LigerFusedNeighborhoodAttentionFunction
from torch import Tensor

from implementations.arguments import UNBOUNDED, Window


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None = None,
    window_size: Window = UNBOUNDED,
) -> Tensor:
    """query, key, value (B, H, N, D) give (B, H, N, D).

    Raises ValueError: a window that does not reach as far back as it does ahead; other shapes.
    """
    if not query.shape == key.shape == value.shape:
        raise ValueError("Liger's arrays are of one shape")
    left, right = (query.shape[2] if bound is None else bound for bound in window_size)
    if left != right:
        raise ValueError("a neighborhood reaches as far back as it does ahead")
    return LigerFusedNeighborhoodAttentionFunction.apply(query, key, value, 2 * left + 1, 1, scale)


attend.conventions = {"lengths": "equal"}  # type: ignore[attr-defined]
