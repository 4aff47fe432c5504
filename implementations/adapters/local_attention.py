"""lucidrains' local attention: windows in buckets, each of which sees the bucket before it.

Arrays are (batch, heads, length, width), of as many queries as keys. With `exact_windowsize`, as
here, a query sees as many places back as a window is wide, and as many ahead unless it is causal;
texts are filled up to whole windows (`autopad`), and there are no rotations.
"""

from __future__ import annotations

from local_attention import LocalAttention
from torch import Tensor

from implementations.arguments import UNBOUNDED, Window


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    window_size: Window = UNBOUNDED,
) -> Tensor:
    """query (B, H, N, D), key (B, H, N, D), value (B, H, N, E) give (B, H, N, E).

    Raises ValueError: a window that does not reach as far ahead as back, or that is the query's own
    place alone; texts of other lengths.
    """
    if query.shape[:3] != key.shape[:3]:
        raise ValueError("a text has as many queries as keys, and heads, as LocalAttention has it")
    beyond = max(query.shape[2], 1)
    left, right = (beyond if bound is None else bound for bound in window_size)
    if not left or (left != right and not (is_causal and window_size[1] in (None, 0))):
        raise ValueError("a window of LocalAttention is as wide ahead as back, at least one place")
    local = LocalAttention(
        left,
        causal=is_causal,
        scale=scale,
        exact_windowsize=True,
        autopad=True,
        use_rotary_pos_emb=False,
    )
    return local(query, key, value)


attend.conventions = {"lengths": "equal"}  # type: ignore[attr-defined]
