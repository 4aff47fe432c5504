"""S3, the naive layer: a loop over the heads, each with projections of its own.

    head_h = attention(Wq_h query, Wk_h key, Wv_h value)        Wq_h: (D, E), D = E / H
    out    = Wo [head_1 ... head_H]

(Vaswani et al. 2017, section 3.2.2), with biases if asked for. The weights that come back
are the mean over the heads.

Stacked one above the other, the H matrices Wq_h are the one matrix (E, E) by which the
efficient layer projects, for a row of the product needs no other row: `stacked`. So the state
dict of this layer has torch's names too, and may be exchanged with any other layer's.

Source S3 publishes this layer, and 218 s to train its classifier where torch's takes 155 s.
"""

from collections.abc import MutableMapping
from typing import Any

import torch
from torch import Tensor, nn

from implementations.systems.scaled_dot_product import scaled_dot_product_attention

State = MutableMapping[str, Tensor]
ROLES = ("query", "key", "value")


class Head(nn.Module):
    """One head: three projections to width D, and attention."""

    def __init__(self, embed_dim: int, width: int, bias: bool) -> None:
        super().__init__()
        self.query = nn.Linear(embed_dim, width, bias=bias)
        self.key = nn.Linear(embed_dim, width, bias=bias)
        self.value = nn.Linear(embed_dim, width, bias=bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """The output (B, N, D) and the weights (B, N, M)."""
        return scaled_dot_product_attention(self.query(query), self.key(key), self.value(value))


class NaiveLayer(nn.Module):
    """A list of heads, and a projection of what they say."""

    def __init__(
        self, embed_dim: int, num_heads: int, bias: bool = True, batch_first: bool = True
    ) -> None:
        """Raises ValueError: the heads do not divide the width, or the batch is not first."""
        super().__init__()
        if embed_dim % num_heads or not batch_first:
            raise ValueError(
                f"{num_heads} heads must divide a width of {embed_dim}, and the batch come first"
            )
        width = embed_dim // num_heads
        self.heads = nn.ModuleList(Head(embed_dim, width, bias) for _ in range(num_heads))
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.num_heads = num_heads
        self.register_state_dict_post_hook(_stack)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(_split)  # type: ignore[no-untyped-call]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        need_weights: bool = True,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """The output (B, N, E), and the weights (B, N, M), averaged over the heads, or of each.

        query (B, N, E), key and value (B, M, E).
        """
        outputs, weights = zip(*(head(query, key, value) for head in self.heads), strict=True)
        out = self.out_proj(torch.cat(outputs, dim=-1))
        if not need_weights:
            return out, None
        each = torch.stack(weights, dim=-3)
        return out, each.mean(dim=-3) if average_attn_weights else each


def stacked(naive: NaiveLayer) -> dict[str, Tensor]:
    """The weights of the efficient layer that computes the same, under torch's names.

    in_proj_weight (3 E, E): the matrices of the queries, head above head, then those of the
    keys, then those of the values; in_proj_bias (3 E) likewise, where there are biases.
    """
    return dict(naive.state_dict())


def _stack(layer: NaiveLayer, state: State, prefix: str, _: Any) -> None:
    """Put one matrix under torch's name in the place of those of the heads."""
    for kind in ("weight", "bias"):
        names = _names(layer, prefix, kind)
        if names[0] in state:
            state[f"{prefix}in_proj_{kind}"] = torch.cat([state.pop(name) for name in names])


def _split(layer: NaiveLayer, state: State, prefix: str, *_: Any) -> None:
    """The inverse: each head takes its rows of the one matrix."""
    for kind in ("weight", "bias"):
        names = _names(layer, prefix, kind)
        whole = state.pop(f"{prefix}in_proj_{kind}", None)
        if whole is not None:
            state.update(zip(names, whole.chunk(len(names)), strict=True))


def _names(layer: NaiveLayer, prefix: str, kind: str) -> list[str]:
    """What the rows of the one matrix, or bias, are called here, from the first to the last."""
    heads = range(layer.num_heads)
    return [f"{prefix}heads.{h}.{role}.{kind}" for role in ROLES for h in heads]
