"""Packed attention in torch: `implementations.packed`, computed by `fused_torch`.

All sequences are one sequence for the fused function, with a segment and a position for each token.
These are computed once, on the device that reads the cumulative lengths.
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
    max_seqlen_q: int,  # noqa: ARG001 - usual arguments; cumulative lengths suffice
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
    """Return o_i = sum_j a_ij v_j over the keys of the sequence of query i.

    q (queries, H, D), k (keys, G, D), v (keys, G, E) give (queries, H, E). cu_seqlens_q and
    cu_seqlens_k (sequences + 1) are integers: the start of each sequence, and the end of the last
    one. With a block_table (sequences, pages of one), k (pages, page size, G, D) and v
    (pages, page size, G, E) are in pages, and cu_seqlens_k counts the keys of each sequence there.
    max_seqlen_q and max_seqlen_k are upper bounds of the lengths, and have no influence. causal
    masks keys ahead, where the last query of a sequence has the position of its last key.
    window_size (left, right) masks keys further away; -1 is no bound. softcap 0 is none.
    alibi_slopes (H,) and sinks (H,) are those of `implementations.fused_torch`, and get gradients.
    return_softmax_lse: also return the log-sum-exp (H, queries).
    Raises ValueError if cumulative lengths do not start with 0, decrease, or end after the tokens;
    if queries and keys have different numbers of sequences; if pages do not exist, or are too few;
    and for arguments that `fused_torch` does not accept.
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
