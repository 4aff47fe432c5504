"""A multi-head attention layer in torch, one projection for query, key and value.

    y = [o_1 ... o_H] W_o^T + b_o,    o_h = attention(x W_q,h^T + b_q,h, ...)

(Vaswani et al. 2017, section 3.2.2). It has the constructor, the state and the call of
`torch.nn.MultiheadAttention` with the batch first. There is one code path, with or without weights,
in training and in evaluation. A fully masked query returns the output bias.
"""

import torch
from torch import Tensor, nn


class MultiHead(nn.Module):
    """Attention between four projections; A = embed_dim is divided among num_heads heads.

    Raises ValueError if num_heads does not divide embed_dim, if the batch is not first, and for
    inputs or masks of a wrong shape; the message has the given shape and the expected one.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = True,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} is not divisible by num_heads {num_heads}")
        if not batch_first:
            raise ValueError("batch_first=False: the batch comes first here")
        A, K, V = embed_dim, kdim or embed_dim, vdim or embed_dim
        self.num_heads, self.widths = num_heads, (A, K, V)
        self.together = (K, V) == (A, A)
        if self.together:
            self.in_proj_weight = fresh(3 * A, A)
        else:
            self.q_proj_weight, self.k_proj_weight = fresh(A, A), fresh(A, K)
            self.v_proj_weight = fresh(A, V)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * A)) if bias else None
        self.out_proj = nn.Linear(A, A, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return y (B, N, A), and weights (B, N, M), or (B, H, N, M) if they are not averaged.

        query (B, N, A), key (B, M, K), value (B, M, V), or all without B. key_padding_mask (B, M),
        attn_mask (N, M) or (B H, N, M): True means masked, a float is added.
        """
        if query.ndim == 2:
            padding = None if key_padding_mask is None else key_padding_mask[None]
            inputs = (query[None], key[None], value[None])
            y, a = self(*inputs, padding, need_weights, attn_mask, average_attn_weights, is_causal)
            return y[0], None if a is None else a[0]
        q, k, v = self.projected(query, key, value)
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        a = weights(self.masked(s, attn_mask, key_padding_mask, is_causal))
        y = self.out_proj((a @ v).transpose(1, 2).flatten(2))
        if not need_weights:
            return y, None
        return y, a.mean(dim=1) if average_attn_weights else a

    def projected(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """Return q, k and v of all heads.   (B, H, L, D)"""
        if self.together:
            matrices = self.in_proj_weight.chunk(3)
        else:
            matrices = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        found = []
        for name, x, W, b in zip(
            ("query", "key", "value"), (query, key, value), matrices, biases, strict=True
        ):
            if x.ndim != 3 or x.shape[2] != W.shape[1]:
                raise ValueError(f"{name}: got shape {tuple(x.shape)}, want (B, L, {W.shape[1]})")
            y = nn.functional.linear(x, W, b)
            found.append(y.view(*y.shape[:2], self.num_heads, -1).transpose(1, 2))
        return found

    def masked(
        self, s: Tensor, mask: Tensor | None, padding: Tensor | None, causal: bool
    ) -> Tensor:
        """Return the scores with biases added, and -inf where a mask is True."""
        B, H, N, M = s.shape
        if mask is not None:
            if tuple(mask.shape) not in ((N, M), (B * H, N, M)):
                got = tuple(mask.shape)
                raise ValueError(f"attn_mask: got shape {got}, want {(N, M)} or {(B * H, N, M)}")
            s = added(s, mask if mask.ndim == 2 else mask.view(B, H, N, M))
        if padding is not None:
            if tuple(padding.shape) != (B, M):
                got = tuple(padding.shape)
                raise ValueError(f"key_padding_mask: got shape {got}, want {(B, M)}")
            s = added(s, padding[:, None, None, :])
        if causal:
            s = added(s, torch.ones(N, M, dtype=torch.bool, device=s.device).triu(1))
        return s


def fresh(rows: int, columns: int) -> nn.Parameter:
    """Return a new matrix of small random numbers, uniformly distributed."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))


def added(s: Tensor, mask: Tensor) -> Tensor:
    """Return the scores with a float mask added, or with -inf where a boolean mask is True."""
    return s.masked_fill(mask, -torch.inf) if mask.dtype == torch.bool else s + mask


def weights(s: Tensor) -> Tensor:
    """Return the softmax of every row, and zeros for a row that is all -inf."""
    idle = torch.isneginf(s).all(dim=-1, keepdim=True)
    return torch.softmax(s.masked_fill(idle, 0), dim=-1).masked_fill(idle, 0)
