"""Declared conventions: an implementation that chooses otherwise, as one that does not.

The clauses know one choice of each convention only. `under` turns problems and
results around, so that another choice, once declared, is held to the very same
clauses. The declared results of fully masked rows are verified on the way (`idle_rows`).

The causal corner needs no adapter, since a problem has one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.attention import moves
from spec.attention.notation import Gradients, Problem
from spec.attention.plug.always import always
from spec.attention.plug.idle_rows import choices, settled
from spec.attention.record import Implementation
from spec.notation import Array, Call
from spec.subject import not_offered


@dataclass(frozen=True)
class Turn:
    """How problems are put, and what is made of the results.

    forth: a problem as the implementation is to see it.
    rows: a result (B, H, N, ...), or dq, as it is to be seen. mask: the same for its gradient.
    heads: the same for what has a number for each head. lse: the same for the log-sum-exp, which
    is one of the rows unless told otherwise.
    """

    forth: Callable[[Problem], Problem]
    rows: Callable[[Array, Problem], Array] = lambda x, _: x
    mask: Callable[[Array, Problem], Array] = lambda x, _: x
    heads: Callable[[Array, Problem], Array] = lambda x, _: x
    lse: Callable[[Array, Problem], Array] | None = None


def under(implementation: Implementation, declared: Mapping[str, str]) -> Implementation:
    """The implementation as one that chooses the default, its own choices being checked."""
    chosen = {**implementation.chosen, **declared}
    adapted = always(implementation.but(conventions=chosen), chosen)
    for turn in (turn for (name, choice), turn in OF_LSE.items() if chosen[name] == choice):
        adapted = _turned(adapted, turn)
    if (chosen["lse-base"], chosen["lse-sink"]) != ("e", "with"):  # it has another cotangent
        adapted = adapted.but(lse_backward=not_offered)
    if chosen["mask-means"] == "forbid":
        adapted = _turned(adapted, Turn(opposite_mask))
    if chosen["grouping"] == "interleaved":
        adapted = _turned(adapted, INTERLEAVED)
    if choices(chosen) != ("zero", "zero"):
        adapted = settled(adapted, chosen)  # outermost: told from our problem
    return adapted


def _turned(implementation: Implementation, turn: Turn) -> Implementation:
    """The implementation seen through `turn`; what it does not offer it still does not."""

    def back(name: str, found: Any, p: Problem) -> Any:
        if isinstance(found, Gradients):
            return replace(found, q=turn.rows(found.q, p))
        if isinstance(found, Call):
            return replace(found, out=turn.rows(found.out, p))
        if isinstance(found, Mapping):
            return {x: turn.rows(dx, p) if x == "q" else dx for x, dx in found.items()}
        of_heads = dict.fromkeys(("sink_gradient", "slope_gradient"), turn.heads)
        by_name = {"bias_gradient": turn.mask, "lse": turn.lse or turn.rows, **of_heads}
        return by_name.get(name, turn.rows)(found, p)

    def seen(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda p, *rest: back(name, function(turn.forth(p), *rest), p)

    return implementation.through(seen)


def as_it_is(problem: Problem) -> Problem:
    """The problem, where only an answer is to be turned."""
    return problem


def in_natural_units(lse: Array, _: Problem) -> Array:
    """A log-sum-exp in base two as the natural one."""
    return lse * np.log(lse.dtype.type(2))


def with_the_sink(lse: Array, problem: Problem) -> Array:
    """A log-sum-exp of the keys alone, with the sink in it."""
    return lse if problem.sinks is None else np.logaddexp(lse, problem.sinks[:, None])


def below_all(lse: Array, problem: Problem) -> Array:
    """The log-sum-exp of nothing as -inf where it is inf, and inf where it is not."""
    nothing = np.logical_not(problem.allowed.any(axis=-1))
    return np.where(nothing & np.isinf(lse), -lse, lse)


def opposite_mask(problem: Problem) -> Problem:
    """True for what is forbidden."""
    if problem.mask is None or problem.mask.dtype != bool:
        return problem
    return problem.but(mask=~problem.mask)


def head_order(problem: Problem) -> Array:
    """Which query head to put where, so that head h mod G reads the right key head.

    Place i G + g is read with key head g; head g (H / G) + i should be.
    """
    return np.arange(problem.H).reshape(problem.G, -1).T.reshape(-1)


def permuted_mask(mask: Array, order: Array) -> Array:
    """A mask, or its gradient, with the heads `order`, in that order."""
    if mask.ndim < 3 or mask.shape[-3] == 1:
        return mask
    return np.take(mask, order, axis=-3)


# Query heads are put in the implementation's order, and results back in ours.
INTERLEAVED = Turn(
    forth=lambda p: moves.of_heads(p, head_order(p)),
    rows=lambda x, p: x[:, np.argsort(head_order(p))],
    mask=lambda x, p: permuted_mask(x, np.argsort(head_order(p))),
    heads=lambda x, p: x[..., np.argsort(head_order(p))],
)

OF_LSE = {  # in this order: what is nothing, then units, then what belongs to it
    ("fully-masked-lse", "+inf"): Turn(as_it_is, lse=below_all),
    ("lse-base", "2"): Turn(as_it_is, lse=in_natural_units),
    ("lse-sink", "without"): Turn(as_it_is, lse=with_the_sink),
}
