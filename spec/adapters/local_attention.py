"""lucidrains' local attention: windows in buckets, each of which attends to its neighbours.

Arrays are (batch, heads, length, width), with as many queries as keys. Sequences are padded to
whole buckets (`autopad`), and there are no rotations. Without a window, buckets have four
positions, and every query attends to all of them. A sliding window is causal: with
`exact_windowsize` a query sees as many positions back as a bucket is wide.
"""

from __future__ import annotations

from local_attention import LocalAttention
from torch import Tensor

BUCKET = 4  # positions; without a window, the width of a bucket changes nothing


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    sliding_window: int | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, H, N, D), value (B, H, N, E) give (B, H, N, E).

    sliding_window: the number of visible keys, including the key at the query's position. Raises
    ValueError for a window of one key, and if the lengths or numbers of heads differ.
    """
    if query.shape[:3] != key.shape[:3]:
        raise ValueError("a text has as many queries as keys, and heads, as LocalAttention has it")
    options = {"scale": scale, "autopad": True, "use_rotary_pos_emb": False}
    if sliding_window is not None:
        if sliding_window < 2:
            raise ValueError("a window of LocalAttention is at least one place wide")
        local = LocalAttention(sliding_window - 1, causal=True, exact_windowsize=True, **options)
        return local(query, key, value)
    around = {"look_backward": (n := -(-query.shape[2] // BUCKET))}
    around |= {} if is_causal else {"look_forward": n}
    return LocalAttention(BUCKET, causal=is_causal, **around, **options)(query, key, value)


attend.conventions = {"lengths": "equal"}  # type: ignore[attr-defined]
