"""The einsum-layer system: self-attention in torch, in Einstein's summation notation.

Matrices (E, E) act on the left: k_s = K x_s, q_s = Q x_s, v_s = V x_s. A vector of width E
consists of H vectors of width D = E / H, one after the other. The indices are b (batch),
s (query), t (key), h (head) and i (column):

    scores  bshi,bthi->bhst    over sqrt(D)      u = softmax over t
    mixture bhst,bthi->bshi    the heads concatenated again: z_s (E)
    y_s = L z_s

There is no bias and no mask. The notation needs no explicit transposition and no explicit
order of multiplication.

The source publishes this system for X (8, 80, 12) and 2 heads in float32, at a relative
distance of 1.9810291e-07 from `torch.nn.MultiheadAttention(bias=False)`. Its softmax takes the
exponential without subtracting the maximum, which overflows. The softmax here subtracts the
largest score of a row first. `published_faults_torch.softmax_without_the_maximum` keeps the
published one.
"""

from collections.abc import Callable
from math import sqrt

import torch
from torch import Tensor, nn


def softmax(scores: Tensor) -> Tensor:
    """Return exp(s_t) / sum_t exp(s_t) along the last axis, after subtracting the largest s."""
    top = scores.detach().amax(dim=-1, keepdim=True)  # a constant: a common shift cancels
    e = (scores - top).exp()
    return e / e.sum(dim=-1, keepdim=True)


def mixed(
    q: Tensor, k: Tensor, v: Tensor, normalised: Callable[[Tensor], Tensor] = softmax
) -> tuple[Tensor, Tensor]:
    """Return the output (B, N, H, E) and the weights (B, H, N, M).

    q (B, N, H, D), k (B, M, H, D), v (B, M, H, E). normalised: the softmax, along the last axis.
    """
    u = normalised(torch.einsum("bshi,bthi->bhst", q, k) / sqrt(q.shape[-1]))
    return torch.einsum("bhst,bthi->bshi", u, v), u


def multi_head_attention(
    x: Tensor, key: Tensor, query: Tensor, value: Tensor, output: Tensor, heads: int
) -> Tensor:
    """Return y_s = L z_s for matrices K, Q, V, L (E, E) that act on the left.   x: (B, N, E)

    Raises ValueError if the number of heads does not divide E.
    """
    q, k, v = (projected(x, matrix, heads) for matrix in (query, key, value))
    z, _ = mixed(q, k, v)
    return torch.einsum("ij,bsj->bsi", output, z.flatten(start_dim=2))


def projected(x: Tensor, matrix: Tensor, heads: int) -> Tensor:
    """Return W x_s for every s, split into heads.   (B, N, E) to (B, N, H, D)"""
    E = matrix.shape[0]
    if E % heads:
        raise ValueError(f"{heads} heads do not divide a width of {E}")
    return torch.einsum("ij,bsj->bsi", matrix, x).reshape(*x.shape[:2], heads, E // heads)


class EinsumLayer(nn.Module):
    """The same computation as a layer with torch's call signature and parameter names.

    Queries, keys and values may be three sequences, and the layer can have biases. The notation
    stays the same. The source has no biases.
    """

    softmax = staticmethod(softmax)

    def __init__(
        self, embed_dim: int, num_heads: int, bias: bool = True, batch_first: bool = True
    ) -> None:
        """Draw normal matrices, as the source does, but with variance 1 / E.

        Raises ValueError if num_heads does not divide embed_dim, or if batch_first is False.
        """
        super().__init__()
        if embed_dim % num_heads or not batch_first:
            raise ValueError(
                f"{num_heads} heads must divide a width of {embed_dim}, and the batch come first"
            )
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim) / sqrt(embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        need_weights: bool = True,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output (B, N, E) and the weights, or None in place of the weights.

        The weights are the mean over the heads (B, N, M), or those of each head (B, H, N, M).
        """
        q, k, v = (self.split(x, role) for role, x in enumerate((query, key, value)))
        z, u = mixed(q, k, v, self.softmax)
        y = torch.einsum("ij,bsj->bsi", self.out_proj.weight, z.flatten(start_dim=2))
        y = y if self.out_proj.bias is None else y + self.out_proj.bias
        if not need_weights:
            return y, None
        return y, u.mean(dim=1) if average_attn_weights else u

    def split(self, x: Tensor, role: int) -> Tensor:
        """Project to queries (role 0), keys (1) or values (2).   (B, L, E) to (B, L, H, D)"""
        y = projected(x, self.in_proj_weight.chunk(3)[role], self.num_heads)
        if self.in_proj_bias is None:
            return y
        return y + self.in_proj_bias.chunk(3)[role].view(y.shape[2:])


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return the output without projections, with the heads before the length.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return mixed(q, k, v)[0].transpose(1, 2)


def weights(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return the weights u_st.   (B, H, N, M)"""
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return mixed(q, k, v)[1]


vars(attend).update(weights=weights)
