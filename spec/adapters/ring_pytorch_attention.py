"""ring-attention-pytorch on one process: its `default_attention` and its `ring_flash_attn`.

Arrays are (batch, length, heads, width), the layout of the package. Masks are padding masks (batch,
keys), where True is visible. The soft-cap is `softclamp_value`. Key heads are shared without an
option. `tiled` is `ring` in buckets so small that short sequences have several.
"""

from __future__ import annotations

from typing import Any

from ring_attention_pytorch import default_attention, ring_flash_attn
from torch import Tensor

SMALL = 16  # tokens in a bucket; the default of the package is 1024


def plain(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,  # noqa: ARG001 - it always shares key heads
    softcap: float | None = None,
) -> Tensor:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E).

    Raises ValueError if a mask is not boolean with the shape (B, 1, 1, M).
    """
    of_keys, words = _told(query, key, mask, softcap)
    return default_attention(query, key, value, of_keys, is_causal, **words)


def ring(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    softcap: float | None = None,
    bucket_size: int = 1024,
) -> Tensor:
    """As `plain`, by the autograd function that passes keys around a ring, here a ring of one."""
    of_keys, words = _told(query, key, mask, softcap)
    return ring_flash_attn(query, key, value, of_keys, is_causal, bucket_size, **words)


def tiled(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,
    softcap: float | None = None,
) -> Tensor:
    """As `ring`, in small buckets."""
    return ring(query, key, value, mask, is_causal, enable_gqa, softcap, SMALL)


def _told(
    query: Tensor, key: Tensor, mask: Tensor | None, softcap: float | None
) -> tuple[Tensor | None, dict[str, Any]]:
    """The mask (B, M), and the options for the soft-cap. Raises ValueError as `plain`."""
    if mask is not None:
        if mask.dtype.is_floating_point or mask.shape != (query.shape[0], 1, 1, key.shape[1]):
            raise ValueError("a mask is of truth values, and of keys alone")
        mask = mask[:, 0, 0]
    capped = {} if softcap is None else {"softclamp_qk_sim": True, "softclamp_value": softcap}
    return mask, capped
