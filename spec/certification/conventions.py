"""Declared conventions: an implementation that chooses otherwise, as one that does not.

The clauses know one choice of each convention only. `under` turns problems and
results around, so that another choice, once declared, is held to the very same
clauses. What it promises is verified on the way: an idle row that is not what
was declared becomes NaN, which every clause rejects.

The causal corner needs no adapter, since a problem has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec import definition, rounding
from spec.implementation import Implementation, not_offered
from spec.notation import Array, Call, Gradients, Problem

ROW_AXES = {"forward": 1, "weights": 1, "lse": 0}  # axes of a result after that of the queries


def under(implementation: Implementation, declared: Mapping[str, str]) -> Implementation:
    """The implementation as one that chooses the default, its own choices being checked."""
    chosen = {**implementation.chosen, **declared}
    adapted = implementation.but(conventions=chosen)
    if chosen["idle"] != "zero":
        adapted = _idle(adapted, chosen["idle"])
    if chosen["mask means"] == "forbid":
        adapted = _asked(adapted, _opposite_mask)
    if chosen["grouping"] == "interleaved":
        adapted = _interleaved(adapted)
    return adapted


def _asked(
    implementation: Implementation, translate: Callable[[Problem], Problem]
) -> Implementation:
    """Every problem is translated before it is put."""

    def translated(function: Callable[..., Any]) -> Callable[..., Any]:
        if function is not_offered:
            return function
        return lambda problem, *rest: function(translate(problem), *rest)

    names = ("forward", "backward", "bias_gradient", "partial", "weights", "lse", "call")
    return implementation.but(**{n: translated(getattr(implementation, n)) for n in names})


def _opposite_mask(problem: Problem) -> Problem:
    """True for what is forbidden."""
    if problem.mask is None or problem.mask.dtype != bool:
        return problem
    return problem.but(mask=~problem.mask)


def _order(problem: Problem) -> Array:
    """Which query head to put where, so that head h mod G reads the right key head.

    Place i G + g is read with key head g; head g (H / G) + i should be.
    """
    return np.arange(problem.H).reshape(problem.G, -1).T.reshape(-1)


def _permuted(problem: Problem) -> Problem:
    order = _order(problem)
    return problem.but(
        q=problem.q[:, order],
        dout=problem.dout[:, order],
        mask=_permuted_mask(problem.mask, order),
    )


def _permuted_mask(mask: Array | None, order: Array) -> Array | None:
    if mask is None or mask.ndim < 3 or mask.shape[-3] == 1:
        return mask
    return np.take(mask, order, axis=-3)


def _interleaved(implementation: Implementation) -> Implementation:
    """Query heads are put in the implementation's order, and results back in ours."""
    asked = _asked(implementation, _permuted)

    def back(x: Array, problem: Problem) -> Array:
        return x[:, np.argsort(_order(problem))]

    def rows(name: str) -> Callable[[Problem], Array]:
        function = getattr(asked, name)
        return function if function is not_offered else lambda p: back(function(p), p)

    def mask_back(problem: Problem) -> Array:
        gradient = asked.bias_gradient(problem)
        return _permuted_mask(gradient, np.argsort(_order(problem)))  # type: ignore[return-value]

    def partial(problem: Problem, names: tuple[str, ...]) -> Mapping[str, Array]:
        found = asked.partial(problem, names)
        return {name: back(x, problem) if name == "q" else x for name, x in found.items()}

    def backward(problem: Problem) -> Gradients:
        found = asked.backward(problem)
        return Gradients(back(found.q, problem), found.k, found.v, found.bias)

    def call(problem: Problem) -> Call:
        found = asked.call(problem)
        return Call(back(found.out, problem), found.dtype, found.changed, found.aliased)

    return implementation.but(
        **{name: rows(name) for name in ROW_AXES},
        **_where_offered(implementation, backward=backward, partial=partial, call=call),
        **_where_offered(implementation, bias_gradient=mask_back),
    )


def _where_offered(implementation: Implementation, **functions: Any) -> dict[str, Any]:
    return {n: f for n, f in functions.items() if getattr(implementation, n) is not not_offered}


def _idle(implementation: Implementation, choice: str) -> Implementation:
    """Idle rows that are what was declared become zero, others NaN; they get no cotangent."""

    def rows(name: str) -> Callable[[Problem], Array]:
        function = getattr(implementation, name)
        if function is not_offered:
            return function
        return lambda p: _settled(function(p), p, choice, name)

    def quiet(problem: Problem) -> Problem:
        return problem.but(dout=np.where(problem.idle[..., None], 0.0, problem.dout))

    def query_rows(dq: Array, problem: Problem) -> Array:
        lost = problem.idle[..., None] & np.isnan(dq)
        return np.where(lost, 0.0, dq)

    def backward(problem: Problem) -> Gradients:
        found = implementation.backward(quiet(problem))
        return Gradients(query_rows(found.q, problem), found.k, found.v, found.bias)

    def partial(problem: Problem, names: tuple[str, ...]) -> Mapping[str, Array]:
        found = implementation.partial(quiet(problem), names)
        return {n: query_rows(x, problem) if n == "q" else x for n, x in found.items()}

    def bias_gradient(problem: Problem) -> Array:
        return implementation.bias_gradient(quiet(problem))

    def call(problem: Problem) -> Call:
        found = implementation.call(problem)
        out = _settled(found.out, problem, choice, "forward")
        return Call(out, found.dtype, found.changed, found.aliased)

    return implementation.but(
        **{name: rows(name) for name in ROW_AXES},
        **_where_offered(implementation, backward=backward, partial=partial, call=call),
        **_where_offered(implementation, bias_gradient=bias_gradient),
    )


def _settled(result: Array, problem: Problem, choice: str, name: str) -> Array:
    """The result with idle rows as the default has them, where they are as declared."""
    if not problem.idle.any():
        return result
    default = -np.inf if name == "lse" else 0.0
    idle = problem.idle.reshape(problem.idle.shape + (1,) * ROW_AXES[name])
    kept = _as_declared(result, problem, choice, name)
    return np.where(idle, np.where(kept, default, np.nan), result)


def _as_declared(result: Array, problem: Problem, choice: str, name: str) -> Array:
    """True where an idle row is what `choice` says; whatever it says of the log-sum-exp."""
    if choice == "nan":
        return np.isnan(result) | (result == -np.inf) if name == "lse" else np.isnan(result)
    if name == "lse":
        return np.ones(result.shape, dtype=bool)
    uniform = problem.but(q=np.zeros_like(problem.q), mask=None, causal=False)
    if name == "weights":
        want, budget = definition.weights(uniform), rounding.of_weights(uniform)
    else:
        want, budget = definition.attention(uniform), rounding.of_output(uniform)
    return np.abs(result - want) <= budget
