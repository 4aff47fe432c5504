"""Attention in torch, each step of which may be another.

It computes in float32, or in float64 for inputs in float64, and rounds once, as good kernels do:
then no rounding hides a fault. The gradients are autograd's.
"""

from collections.abc import Callable
from math import inf, sqrt

import torch
from torch import Tensor

from tests.power.faults import FAMILIES


class Attention:
    """A function whose step `where` is wrong: `step` gives it another value.

    Its signature and its shapes are those of `oracles.autograd.attend`.
    """

    def __init__(self, where: str = "", step: Callable[[Tensor], Tensor] = lambda x: x) -> None:
        self.where, self.step = where, step

    @staticmethod
    def wide(dtype: torch.dtype) -> torch.dtype:
        """The format that it computes in."""
        return torch.float64 if dtype == torch.float64 else torch.float32

    def of(self, where: str, x: Tensor) -> Tensor:
        """A step by its name, as this function has it."""
        return self.step(x) if where == self.where else x

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG002 - as torch's function has it; shapes say it
        softcap: float | None = None,
        sinks: Tensor | None = None,
        alibi_slopes: Tensor | None = None,
        return_lse: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        wide = self.wide(query.dtype)
        q, k, v = (self.of(n, x.to(wide)) for n, x in zip("qkv", (query, key, value), strict=True))
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        s, seen = self._scores(q, k, attn_mask, is_causal, scale, softcap, alibi_slopes)
        a, lse = self._softmax(s, seen, sinks)
        o = self.of("output", a @ v).to(query.dtype)
        return (o, lse) if return_lse else o

    def _scores(
        self,
        q: Tensor,
        k: Tensor,
        mask: Tensor | None,
        causal: bool,
        scale: float | None,
        cap: float | None,
        slopes: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        (N, D), M = q.shape[-2:], k.shape[-2]
        ahead = torch.arange(M) - torch.arange(N)[:, None]
        seen = (ahead <= 0) if causal else torch.ones(N, M, dtype=torch.bool)
        s = self.of("scores", (1 / sqrt(D) if scale is None else scale) * (q @ k.mT))
        if cap is not None:
            bound = self.of("cap", torch.tensor(cap, dtype=s.dtype))
            s = bound * (s / bound).tanh()
        if mask is not None and mask.dtype == torch.bool:
            seen = seen & mask
        elif mask is not None:
            seen = seen & ~mask.isneginf()
            s = s + self.of("bias", mask.masked_fill(mask.isneginf(), 0).to(s.dtype))
        if slopes is not None:
            m = self.of("slopes", slopes.to(s.dtype))
            s = s - m[..., None, None] * ahead.abs()
        return s, seen.expand(s.shape)

    def _softmax(self, s: Tensor, seen: Tensor, sinks: Tensor | None) -> tuple[Tensor, Tensor]:
        """The weights (B, H, N, M), and the log-sum-exp (B, H, N)."""
        top = torch.cat([s.masked_fill(~seen, -inf), s.new_full((*s.shape[:-1], 1), -inf)], -1)
        t = None if sinks is None else self.of("sinks", sinks.to(s.dtype))[:, None, None]
        m = top.amax(-1, keepdim=True).detach()
        m = m if t is None else torch.maximum(m, t.detach())
        m = m.masked_fill(m.isneginf(), 0)
        e = self.of("exponentials", (s.masked_fill(~seen, -inf) - m).exp())
        e = self.of("seen", e)
        if self.where == "hidden":
            e = torch.where(seen, e, self.step((s - m).clamp_max(0).exp()))
        total = e.sum(-1, keepdim=True)
        total = total if t is None else total + (t - m).exp()
        total = self.of("total", total)
        a = self.of("weights", e / total.masked_fill(total == 0, 1))
        lse = (m + total.log()).squeeze(-1)
        return a, self.of("lse", lse)


class Eager(Attention):
    """The same formula, each step of which is stored in the format of its inputs."""

    @staticmethod
    def wide(dtype: torch.dtype) -> torch.dtype:
        return dtype


KINDS = ("only results", "weights as well", "everything")  # what right functions store


def right(kind: str, dtype: str) -> Attention:
    """A function without a fault, by what it stores in a format."""
    narrow = getattr(torch, dtype)
    if kind == "everything":
        return Eager()
    return Attention("weights" * (kind != KINDS[0]), lambda a: a.to(narrow).to(a.dtype))


def wrong(name: str, strength: float) -> Attention:
    """The function with the fault of a family, at a strength between 0 and 1."""
    family = FAMILIES[name]
    return Attention(family.where, lambda x: family.step(x, strength))
