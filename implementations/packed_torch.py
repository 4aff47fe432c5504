"""Packed in torch: `implementations.packed` in another language, gradients by `fused_torch`.

All texts are one sequence for the fused function, with a segment and a place for each token, which
are settled once, on the machine that reads the cumulative lengths.
"""

from typing import Any

import torch
from torch import Tensor

from implementations import fused_torch
from implementations.packed import NO_BOUND, as_one, options, places_of, texts, unpacked


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,  # noqa: ARG001 - as everywhere; the lengths tell
    max_seqlen_k: int,  # noqa: ARG001
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = NO_BOUND,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    return_softmax_lse: bool = False,
    block_table: Tensor | None = None,
) -> Any:
    """o_i = sum_j a_ij v_j over the keys of the text of query i.

    q (queries, H, D), k (keys, G, D), v (keys, G, E) give (queries, H, E). cu_seqlens_q and
    cu_seqlens_k (texts + 1) are integers: where each text starts, and where the last one ends.
    With a block_table (texts, pages of one), k (pages, places, G, D) and v (pages, places, G, E)
    lie in pages, and cu_seqlens_k counts the keys of each text there. max_seqlen_q and max_seqlen_k
    are the lengths of the longest, or more, and tell nothing new. causal forbids keys ahead, the
    last query of a text standing at its last key, and window_size (left, right) those further away,
    -1 being no bound. softcap 0 is none. alibi_slopes (H,) and sinks (H,) are as
    `implementations.fused_torch` has them, and get gradients. return_softmax_lse: the log-sum-exp
    (H, queries) comes as well.
    Raises ValueError: cumulative lengths that do not start with 0, fall, end behind the tokens, or
    are of another number of texts for queries than for keys; pages that do not exist, or too few;
    and what fused_torch does.
    """
    starts = cu_seqlens_q.cpu().numpy(), cu_seqlens_k.cpu().numpy()
    if block_table is not None:
        page, place = places_of(k, block_table.cpu().numpy(), starts[1])
        k, v = (x[torch.from_numpy(page), torch.from_numpy(place)] for x in (k, v))
    arrays = as_one(q), as_one(k), as_one(v)
    said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    of_tokens = texts(*starts, len(q), len(k))
    told = said | {name: torch.from_numpy(x).to(q.device) for name, x in of_tokens.items()}
    o, lse = fused_torch.attend(*arrays, **told, return_lse=True)
    return (unpacked(o), lse[0]) if return_softmax_lse else unpacked(o)
