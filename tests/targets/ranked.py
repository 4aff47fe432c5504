"""Functions of context parallelism as people write them: of what a rank has, in a process group."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from implementations.on_ranks import over


class Gathered(torch.autograd.Function):
    """What all ranks have, along the tokens; backward each gets what all others have of its."""

    @staticmethod
    def forward(_: Any, x: Tensor) -> Tensor:
        """(B, n, G, D) to (B, ranks n, G, D)."""
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, dim=1)

    @staticmethod
    def backward(_: Any, dx: Tensor) -> Tensor:
        """The sum over the ranks, of which each keeps its own."""
        dx = dx.contiguous()
        dist.all_reduce(dx)
        return dx.chunk(dist.get_world_size(), dim=1)[dist.get_rank()]


class Local(Gathered):
    """Backward each keeps what it says itself of its own."""

    @staticmethod
    def backward(_: Any, dx: Tensor) -> Tensor:
        """Without the others."""
        return dx.chunk(dist.get_world_size(), dim=1)[dist.get_rank()]


def attended(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, softmax_scale: float | None, gather: Any, at: int
) -> Tensor:
    """The output of a rank's queries, whose first one stands at `at`."""
    k, v = gather.apply(k), gather.apply(v)
    heads = q.shape[2] // k.shape[2]
    keys, values = (x.repeat_interleave(heads, dim=2).transpose(1, 2) for x in (k, v))
    scale = q.shape[3] ** -0.5 if softmax_scale is None else softmax_scale
    s = scale * (q.transpose(1, 2) @ keys.transpose(-1, -2))
    if causal:
        rows = at + torch.arange(q.shape[1])
        s = s.masked_fill(torch.arange(k.shape[1]) > rows[:, None], -torch.inf)
    return (s.softmax(-1) @ values).transpose(1, 2)


def gathers(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, softmax_scale: float | None = None
) -> Tensor:
    """All keys everywhere."""
    at = dist.get_rank() * q.shape[1]
    return attended(q, k, v, causal, softmax_scale, Gathered, at)


def keeps_its_derivatives(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, softmax_scale: float | None = None
) -> Tensor:
    """The same, and what others learn of a key is lost."""
    at = dist.get_rank() * q.shape[1]
    return attended(q, k, v, causal, softmax_scale, Local, at)


def counts_from_its_own_first(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, softmax_scale: float | None = None
) -> Tensor:
    """The same, and every rank's first query stands at the first key."""
    return attended(q, k, v, causal, softmax_scale, Gathered, 0)


right = over("tests.targets.ranked:gathers")
without_others = over("tests.targets.ranked:keeps_its_derivatives")
at_the_first = over("tests.targets.ranked:counts_from_its_own_first")
