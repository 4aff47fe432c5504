"""lucidrains' local attention: windows in buckets, each of which sees those beside it.

Arrays are (batch, heads, length, width), of as many queries as keys; texts are filled up to whole
buckets (`autopad`), and there are no rotations. Without a window, buckets are of four places and
all of them are looked at. A sliding window is causal: with `exact_windowsize` a query sees as many
places back as a bucket is wide.
"""

from __future__ import annotations

from local_attention import LocalAttention
from torch import Tensor

BUCKET = 4  # places, where the width of a bucket changes nothing


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    sliding_window: int | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, H, N, D), value (B, H, N, E) give (B, H, N, E).

    sliding_window counts keys, the query's own among them. Raises ValueError: it is the query's own
    alone; texts of other lengths, or of fewer heads.
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
