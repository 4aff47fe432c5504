"""The correct steps of attention with dropout. A known bug replaces one of them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.attention.mistakes.steps import Pass as Attended
from spec.notation import Array

Chance = np.random.Generator


@dataclass(frozen=True)
class Pass:
    """The state of a pass: mode, attention without dropout, mask, and weights after dropout.

    memory: what the instance keeps from call to call.
    """

    p: float
    training: bool
    chance: Chance
    memory: dict[Any, Any]
    attention: Attended
    rate: float = 0.0
    kept: Array = field(default_factory=lambda: np.ones(1, dtype=bool))
    w: Array = field(default_factory=lambda: np.ones(1))

    @property
    def a(self) -> Array:
        """The weights without dropout.   (B, H, N, M)"""
        return self.attention.a

    @property
    def v(self) -> Array:
        """The values.   (B, H, M, E)"""
        return self.attention.v


def rate(seen: Pass) -> float:
    """p in training, 0 in evaluation."""
    return seen.p if seen.training else 0.0


def draw(seen: Pass) -> Array:
    """True with probability 1 - p, for every weight.   (B, H, N, M)"""
    return seen.chance.random(seen.a.shape) >= seen.rate


def factor(rate: float) -> float:
    """1 / (1 - p), and 0 for p = 1, where nothing is kept."""
    return 1 / (1 - rate) if rate < 1 else 0.0


def use(seen: Pass) -> Array:
    """w_ij = m_ij a_ij / (1 - p)."""
    return seen.a * seen.kept * seen.a.dtype.type(factor(seen.rate))


def combine(seen: Pass) -> Array:
    """o_i = sum_j w_ij v_j."""
    return seen.w @ seen.v


def finish(o: Array, query: Array) -> Array:
    """The output in the dtype of the queries, in its own memory."""
    return o.astype(query.dtype)


def show(seen: Pass) -> Array:
    """The weights after dropout."""
    return seen.w


def again(seen: Pass) -> Pass:
    """The forward pass that the backward pass differentiates: the same one."""
    return seen


def through_values(seen: Pass, dout: Array) -> Array:
    """dv_j = sum_i w_ij dout_i."""
    return seen.w.swapaxes(-1, -2) @ dout


def through_mask(seen: Pass, G: Array) -> Array:
    """da_ij = m_ij G_ij / (1 - p), with G_ij = <dout_i, v_j>."""
    return G * seen.kept * G.dtype.type(factor(seen.rate))


def row_term(seen: Pass, da: Array, _: Array) -> Array:
    """sum_j a_ij da_ij.   (B, H, N, 1)"""
    return (seen.a * da).sum(axis=-1, keepdims=True)


def through_softmax(seen: Pass, da: Array, mean: Array) -> Array:
    """ds_ij = a_ij (da_ij - mean_i)."""
    return seen.a * (da - mean)
