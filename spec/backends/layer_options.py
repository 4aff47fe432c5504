"""What a layer is told beside its inputs, in the words of torch.nn.MultiheadAttention."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from spec.layer.notation import LayerProblem
from spec.notation import Array


def flags(problem: LayerProblem, takes: Container[str]) -> dict[str, Any]:
    """The options that are no arrays, of those that the call takes."""
    found: dict[str, Any] = {}
    if "need_weights" in takes:
        found["need_weights"] = problem.asks != "nothing"
    if "average_attn_weights" in takes and problem.asks != "nothing":
        found["average_attn_weights"] = problem.asks == "mean"
    if problem.causal and problem.mask is None and "is_causal" in takes:
        found["is_causal"] = True
    return found


def masks(
    problem: LayerProblem, takes: Container[str], *, true_attends: bool = False
) -> dict[str, tuple[str, Array]]:
    """The masks that the call is given, each with the field of the problem it stands for.

    Causality is written out beside its flag, which for torch is no more than a hint; and
    two masks are of one type, as torch wants them. Truth values are turned over last, for a
    layer in which True says what may be attended to: what is added means the same to all.
    """
    mask, padding = problem.mask, problem.padding
    if problem.causal:
        mask = _with_the_future(problem) if "attn_mask" in takes else None
    if padding is not None and mask is not None and mask.dtype != bool:
        padding = np.where(padding, -np.inf, 0.0)
    found = {"attn_mask": ("mask", mask), "key_padding_mask": ("padding", padding)}

    def written(x: Array) -> Array:
        return np.logical_not(x) if true_attends and x.dtype == bool else x

    return {word: (name, written(x)) for word, (name, x) in found.items() if x is not None}


def _with_the_future(problem: LayerProblem) -> Array:
    """The mask of the problem, with the future forbidden too.   (N, M) or (B H, N, M)"""
    future = np.arange(problem.M)[None, :] > np.arange(problem.N)[:, None]
    if problem.mask is None:
        return future
    if problem.mask.dtype == bool:
        return np.logical_or(problem.mask, future)
    return np.where(future, -np.inf, problem.mask)
