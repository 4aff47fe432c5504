"""Layers under conventions of their own, turned into layers that follow the defaults.

A layer of torch's kind says True for what is forbidden, and that is its default.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spec.attention.plug.always import always, answering, asked
from spec.attention.plug.idle_rows import Pair, by_default, choices, hiding, said
from spec.backends.calling import anew, behind
from spec.layer import definition, moves
from spec.layer.notation import LayerProblem
from spec.layer.plug.layers import WrappedLayer
from spec.layer.record import Capability, Layer
from spec.layer.rounding import Budgets
from spec.notation import Array, Call


def under(record: Layer, declared: Mapping[str, str]) -> Layer:
    """The layer as one that chooses the default, its own choices being checked."""
    chosen = {**record.chosen, **declared}
    adapted = always(record.but(conventions=chosen), chosen)
    if chosen["rotary"] != "none":
        adapted = answering(adapted, set(), Capability.STILL)
    if chosen["mask-means"] == "attend":
        adapted = _attending(adapted)
    if choices(chosen) != ("zero", "zero"):
        adapted = _settled(adapted, chosen)
    return adapted


def _attending(record: Layer) -> Layer:
    """A layer in which True says what may be attended to, as one in which it forbids.

    A wrapped class turns its masks over where it writes them; plain functions of a problem
    are put the opposite problem.
    """

    def turned(_: str, function: Callable[..., Any]) -> Any:
        if behind(function, WrappedLayer):
            return anew(function, true_attends=True)
        return asked(function, opposite)

    return record.through(turned)


def opposite(problem: LayerProblem) -> LayerProblem:
    """True in a mask, and in padding, for what may be attended to."""
    mask, padding = problem.mask, problem.padding
    if mask is not None and mask.dtype == bool:
        mask = np.logical_not(mask)
    padding = None if padding is None else np.logical_not(padding)
    return problem.but(mask=mask, padding=padding)


def _settled(record: Layer, chosen: Mapping[str, str]) -> Layer:
    """Rows of idle queries that are as declared become what they are by default."""

    def output(y: Array, problem: LayerProblem) -> Array:
        b = problem.parameters.b_o
        default = np.broadcast_to(0.0 if b is None else b, y.shape)

        def mean() -> Pair:
            known = Budgets(_seeing_all_alike(problem))
            return known.y, known.of_output

        return by_default(y, declared(problem, chosen)[..., None], default, mean)

    def weights(a: Array, problem: LayerProblem) -> Array:
        choice, of_heads = declared(problem, chosen), problem.asks == "heads"

        def mean() -> Pair:
            known = Budgets(_seeing_all_alike(problem))
            if of_heads:
                return known.weights, known.of_weights
            return known.weights.mean(axis=1), known.of_mean_weights

        mine = choice[:, None, :, None] if of_heads else choice[..., None]
        return by_default(a, mine, 0.0, mean)

    def seen(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def ask(put: Any) -> Any:
            found = function(put)
            if isinstance(found, Call):
                return replace(found, out=output(found.out, put))
            if isinstance(found, tuple):
                return tuple(map(output, found, put))
            return (weights if name == "weights" else output)(found, put)

        return ask if name in ("forward", "weights", "sequence", "call") else function

    return record.through(seen)


def declared(problem: LayerProblem, chosen: Mapping[str, str]) -> Array:
    """The declared result of each query, as in `idle_rows.said`.   (B, N)"""
    bare = definition.inside(problem.but(padding=None))
    by_bias, by_truth = (np.asarray(x.any(axis=1)) for x in hiding(bare))
    if problem.padding is not None:
        by_truth |= np.any(problem.padding, axis=1, keepdims=True)
    return said(moves.idle(problem), by_bias, by_truth, chosen)


def _seeing_all_alike(problem: LayerProblem) -> LayerProblem:
    """The problem with queries of zero, and nothing hidden from them."""
    return moves.asking_nothing(problem).but(mask=None, padding=None, causal=False)
