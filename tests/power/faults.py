"""Families of faults: one step of attention that is wrong by a strength between 0 and 1.

`spec` knows none of them: they are here to measure how small a fault is still refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import pi
from typing import Any

import torch
from torch import Tensor

Step = Callable[[Tensor, float], Tensor]


class _Scaled(torch.autograd.Function):
    """The identity, whose gradient is multiplied by a factor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.factor * gradients[0], None


def grows(x: Tensor, s: float) -> Tensor:
    """All of it is too large."""
    return x * (1 + s)


def shrinks(x: Tensor, s: float) -> Tensor:
    """All of it is too small."""
    return x * (1 - s)


def moves(x: Tensor, s: float) -> Tensor:
    """A constant is added."""
    return x + s


def learns(x: Tensor, s: float) -> Tensor:
    """Its gradient is too large."""
    return _Scaled.apply(x, 1 + s)  # type: ignore[no-untyped-call]


def forgets(x: Tensor, s: float) -> Tensor:
    """Its gradient is too small."""
    return learns(x, -s)


def at(place: int, axis: int, step: Step) -> Step:
    """The step at one place of an axis alone."""

    def there(x: Tensor, s: float) -> Tensor:
        chosen = torch.zeros(x.shape[axis], dtype=torch.bool)
        chosen[place:][:1] = True
        shape = [1] * x.dim()
        shape[axis] = -1
        return torch.where(chosen.view(shape), step(x, s), x)

    return there


def mixes(axis: int) -> Step:
    """A part of it is that of the neighbour along an axis."""
    return lambda x, s: x + s * (x.roll(1, axis) - x)


def coarse(x: Tensor, s: float) -> Tensor:
    """Each number is rounded by up to s of itself; s = 2^-9 is the rounding to bfloat16."""
    if s == 0.0:
        return x
    size = x.detach().abs().clamp_min(2.0**-100)
    unit = 2 * s * 2.0 ** size.log2().floor()
    return x + (unit * (x.detach() / unit).round() - x.detach())


def waves(x: Tensor, s: float) -> Tensor:
    """Each number is off by up to s of itself, more or less than it should be in turn."""
    return x * (1 + s * torch.sin(37 * pi * x.detach()))


def drops(x: Tensor, s: float) -> Tensor:
    """What is below s is zero."""
    return torch.where(x.detach() < s, 0.0, x)


def keeps(x: Tensor, s: float) -> Tensor:
    """A share of what should be zero is left; nothing at all, NaN included, where s is zero."""
    return s * x if s else torch.zeros_like(x)


@dataclass(frozen=True)
class Family:
    """Faults of one step. words: what is wrong. option: without which nothing is."""

    words: str
    where: str
    step: Step
    option: str = ""


FAMILIES: Mapping[str, Family] = {
    "scale": Family("scores are multiplied by 1 + s", "scores", grows),
    "output": Family("the output is multiplied by 1 + s", "output", grows),
    "last-query": Family(
        "the last row of the output is multiplied by 1 + s", "output", at(-1, -2, grows)
    ),
    "last-head": Family(
        "the output of the last head is multiplied by 1 + s", "output", at(-1, 1, grows)
    ),
    "last-column": Family(
        "the last column of the output is multiplied by 1 + s", "output", at(-1, -1, grows)
    ),
    "first-key": Family(
        "the exponential of the first key is multiplied by 1 + s", "exponentials", at(0, -1, grows)
    ),
    "last-key": Family(
        "the exponential of the last key is multiplied by 1 - s", "seen", at(-1, -1, shrinks)
    ),
    "epsilon": Family("s is added to the denominator", "total", moves),
    "hidden": Family("exponentials of hidden keys are multiplied by s, not by 0", "hidden", keeps),
    "exponentials": Family("exponentials are wrong by a share of up to s", "exponentials", waves),
    "threshold": Family("weights below s are zero", "weights", drops),
    "coarse-weights": Family("weights are rounded, by a share of up to s", "weights", coarse),
    "coarse-queries": Family("queries are rounded, by a share of up to s", "q", coarse),
    "coarse-keys": Family("keys are rounded, by a share of up to s", "k", coarse),
    "coarse-values": Family("values are rounded, by a share of up to s", "v", coarse),
    "heads-mix": Family("a share s of the output is that of another head", "output", mixes(1)),
    "batch-mixes": Family(
        "a share s of the output is that of another sequence", "output", mixes(0)
    ),
    "rows-mix": Family("a share s of the output is that of another query", "output", mixes(-2)),
    "mask": Family("an additive mask is multiplied by 1 + s", "bias", grows, "bias"),
    "cap": Family("the cap is multiplied by 1 + s", "cap", grows, "cap"),
    "slopes": Family("ALiBi slopes are multiplied by 1 + s", "slopes", grows, "slopes"),
    "sinks": Family("s is added to sinks", "sinks", moves, "sinks"),
    "lse": Family("s is added to the log-sum-exp", "lse", moves),
    "lse-scale": Family("the log-sum-exp is multiplied by 1 + s", "lse", grows),
    "dq": Family("dq is multiplied by 1 + s", "q", learns),
    "dk": Family("dk is multiplied by 1 + s", "k", learns),
    "dv": Family("dv is multiplied by 1 + s", "v", learns),
    "row-term": Family("the row term of ds is multiplied by 1 - s", "total", forgets),
    "last-dq": Family("the last row of dq is multiplied by 1 + s", "q", at(-1, -2, learns)),
    "last-dk": Family("the last row of dk is multiplied by 1 + s", "k", at(-1, -2, learns)),
    "last-dv": Family("the last row of dv is multiplied by 1 + s", "v", at(-1, -2, learns)),
    "dmask": Family("the gradient of the mask is multiplied by 1 + s", "bias", learns, "bias"),
    "dslopes": Family("the gradient of slopes is multiplied by 1 + s", "slopes", learns, "slopes"),
    "dsinks": Family("the gradient of sinks is multiplied by 1 + s", "sinks", learns, "sinks"),
    "dlse": Family("the gradient through the log-sum-exp is multiplied by 1 + s", "lse", learns),
}
