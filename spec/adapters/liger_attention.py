"""Liger-Kernel's fused neighborhood attention, a two-sided window, in Triton's interpreter.

Arrays are (batch, heads, length, width), all of one shape. A neighborhood of k positions reaches (k
- 1) / 2 positions to either side of the query, and is cut off at the ends of the sequence. The
kernel always has a neighborhood.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: kernels run on a CPU

from liger_kernel.ops.fused_neighborhood_attention import LigerFusedNeighborhoodAttentionFunction
from torch import Tensor

from spec.attention.contents import UNBOUNDED, Window


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None = None,
    window_size: Window = UNBOUNDED,
) -> Tensor:
    """query, key, value (B, H, N, D) give (B, H, N, D).

    Raises ValueError if the two bounds of the window differ, and if the shapes of the arrays
    differ.
    """
    if not query.shape == key.shape == value.shape:
        raise ValueError("Liger's arrays are of one shape")
    left, right = (query.shape[2] if bound is None else bound for bound in window_size)
    if left != right:
        raise ValueError("a neighborhood reaches as far back as it does ahead")
    return LigerFusedNeighborhoodAttentionFunction.apply(query, key, value, 2 * left + 1, 1, scale)


attend.conventions = {"lengths": "equal"}  # type: ignore[attr-defined]
