"""Rows of fully masked queries under the conventions `fully-masked` and `fully-masked-bias`.

A row that truth values mask (a boolean mask, causality) follows `fully-masked`; one that -inf in
an additive mask masks follows `fully-masked-bias`; and `padding-queries` may say that padding
queries return zero, whatever they attend to. Where the two differ and both have a part in a
row, libraries go by their order of doing things: a fill after -inf was added gives the mean
over what was filled, the other order may give NaN. Such a row is open, and nothing is claimed.

    zero       o_i = 0, and no gradient passes
    nan        o_i is NaN, and so is, or may be, what its cotangent reaches: dq_i, dk and dv
               of the key head, db_i. That is not judged
    uniform    o_i is the mean of all M values, so dv_j += dout_i / M, and dq_i = db_i = 0

`settled` makes an implementation of one that follows the defaults: what such a row returns is
compared with what was declared of it, where it is called, and then taken for what it is by
default. A comparison that fails shows what was returned, and what the convention wants.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spec.attention import definition, moves, rounding
from spec.attention.contents import UNBOUNDED
from spec.attention.notation import Gradients, Problem
from spec.attention.record import Implementation
from spec.comparison import Place, Violation, equal
from spec.notation import Array, Call

Pair = tuple[Array, Array]  # what is wanted, and within what
Ask = Callable[[Problem], Mapping[str, Array]]  # gradients by the names of the inputs

OWN = ("nan", "uniform", "open")  # what is not the default
DEFAULTS = {"forward": 0.0, "training": 0.0, "weights": 0.0, "lse": -np.inf}


def choices(chosen: Mapping[str, str]) -> tuple[str, str]:
    """The choices for rows that booleans mask, and for those that -inf masks."""
    idle, bias = chosen["fully-masked"], chosen["fully-masked-bias"]
    return idle, idle if bias == "as-fully-masked" else bias


def said(idle: Array, minus: Array, truth: Array, chosen: Mapping[str, str]) -> Array:
    """The choice for each idle row: "zero", "nan", "uniform" or "open"; "" for other rows.

    minus, truth: where -inf hides a key from the row, and where a truth value does.
    """
    by_truth, by_bias = choices(chosen)
    choice = np.where(idle, np.where(minus, by_bias, by_truth), "")
    mixed = idle & minus & truth if by_truth != by_bias else False
    return np.where(mixed, "open", choice)


class Declared:
    """The declared results of the idle rows of a problem; choice: as in `said`.

    own: rows that are not what they are by default. uniform: that are a mean. poisoned: that
    may be NaN.   each (B, H, N)
    """

    def __init__(self, problem: Problem, chosen: Mapping[str, str]) -> None:
        self.problem = problem
        choice = said(problem.idle, *hiding(problem), chosen)
        if chosen.get("padding-queries") == "zero" and problem.query_segments is not None:
            choice[np.broadcast_to(problem.query_segments[:, None] < 0, choice.shape)] = "zero"
        if not problem.M or finite(problem) is not problem:
            choice[choice == "uniform"] = "open"  # a mean of nothing, or of a NaN put there
        self.choice = choice
        self.own, self.uniform = np.isin(choice, OWN), choice == "uniform"
        self.poisoned = np.isin(choice, ("nan", "open"))

    @cached_property
    def alike(self) -> Problem:
        """The problem in which who is to be a mean asks nothing of all keys, and gets it."""
        written, mine = moves.written_out(finite(self.problem)), self.uniform[..., None]
        assert written.mask is not None
        nothing = written.mask.dtype.type(written.mask.dtype == bool)  # True, or adding zero
        mask = np.where(mine, nothing, written.mask)
        if written.slopes is not None:  # what they add is taken away again
            rest = written.mask if written.mask.dtype != bool else np.where(mask, 0.0, -np.inf)
            mask = np.where(mine, -written.slant, rest)
        return written.but(q=np.where(mine, 0.0, written.q), mask=mask)

    def row(self, name: str) -> Pair:
        """The expected result of "forward" or "weights", where rows are a mean or live."""
        return rounding.wanted(self.alike, "a" if name == "weights" else "o")

    def gradient(self, name: str) -> Pair:
        """The gradient by an input, if a row that is a mean hands its cotangent on."""
        want, budget = rounding.wanted(self.alike, "ds" if name == "mask" else f"d{name}")
        if name in ("q", "mask"):  # no score moves a mean
            want, budget = (np.where(self.uniform[..., None], 0.0, x) for x in (want, budget))
        return of_mask(self.problem, want, budget) if name == "mask" else (want, budget)

    def unjudged(self, name: str) -> Array:
        """True where a gradient is, or may be, poisoned; broadcastable to it."""
        p, rows = self.problem, np.expand_dims(self.poisoned, -1)
        if name == "mask":
            assert p.mask is not None
            each = np.repeat(rows.astype(int), p.M, axis=-1)
            return np.asarray(definition.reduced(each, p.mask.shape) > 0)
        heads = rows.any(axis=-2, keepdims=True).astype(int)
        return rows if name == "q" else definition.gathered(heads, p.G) > 0


def of_mask(problem: Problem, want: Array, budget: Array) -> Pair:
    """The gradient of the scores, and its budget, added up to that of the mask."""
    assert problem.mask is not None
    shape = problem.mask.shape
    return definition.reduced(want, shape), rounding.of_sum(want, budget, shape, problem)


def hiding(problem: Problem) -> tuple[Array, Array]:
    """Where -inf hides a key from a query, and where a truth value does.   two of (B, H, N)"""
    shape = (problem.B, problem.H, problem.N, problem.M)
    minus, truth = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    if problem.mask is not None and problem.mask.dtype == bool:
        truth |= ~problem.mask
    elif problem.mask is not None:
        minus |= np.isneginf(problem.mask)
    if problem.causal:
        truth |= problem.future
    if problem.window != UNBOUNDED:
        truth |= problem.outside
    if problem.query_segments is not None:
        truth |= ~problem.same_text
    return np.asarray(minus.any(axis=-1)), np.asarray(truth.any(axis=-1))


def settled(implementation: Implementation, chosen: Mapping[str, str]) -> Implementation:
    """The implementation with the defaults for idle rows, once they are what was declared."""

    def rows(name: str) -> Callable[[Problem], Array]:
        function = getattr(implementation, name)
        of_lse = (
            {"padding-queries": "as-fully-masked"} if name == "lse" else {}
        )  # which nobody clears
        return lambda p: as_default(function(p), Declared(p, {**chosen, **of_lse}), name)

    def call(p: Problem) -> Call:
        found = implementation.call(p)
        return replace(found, out=as_default(found.out, Declared(p, chosen), "forward"))

    def backward(p: Problem, name: str = "backward") -> Gradients:
        def ask(asked: Problem) -> Mapping[str, Array]:
            found = getattr(implementation, name)(asked)
            return {"q": found.q, "k": found.k, "v": found.v}

        return Gradients(**_differentiated(ask, Declared(p, chosen)))

    def lse_backward(p: Problem) -> Gradients:
        own = Declared(p, chosen).own  # whose log-sum-exp may be anything, and teach it
        taught = p if p.dlse is None else p.but(dlse=np.where(own, 0.0, p.dlse))
        return backward(taught, "lse_backward")

    def partial(p: Problem, names: tuple[str, ...]) -> Mapping[str, Array]:
        return _differentiated(lambda x: implementation.partial(x, names), Declared(p, chosen))

    def bias_gradient(p: Problem) -> Array:
        right = Declared(p, chosen)
        return _differentiated(lambda x: {"mask": implementation.bias_gradient(x)}, right)["mask"]

    def sink_gradient(p: Problem) -> Array:
        poisoned = Declared(p, chosen).poisoned.any(axis=(0, 2))
        right = rounding.wanted(p, "dsinks")[0] if poisoned.any() else 0.0
        return np.where(poisoned, right, implementation.sink_gradient(p))

    def slope_gradient(p: Problem) -> Array:
        poisoned = Declared(p, chosen).poisoned.any(axis=2)
        poisoned = poisoned if p.slopes is None or p.slopes.ndim == 2 else poisoned.any(axis=0)
        right = rounding.wanted(p, "dslopes")[0] if poisoned.any() else 0.0
        return np.where(poisoned, right, implementation.slope_gradient(p))

    turned: dict[str, Callable[..., Any]] = {name: rows(name) for name in DEFAULTS}
    of_dout = (backward, lse_backward, partial, bias_gradient, sink_gradient, slope_gradient)
    turned |= {f.__name__: f for f in (call, *of_dout)}
    settled = implementation.through(lambda name, function: turned.get(name, function))
    return settled.but(unsettled=implementation.backward)


def as_default(result: Array, declared: Declared, name: str) -> Array:
    """A result with idle rows as the default has them. Raises Violation: not as declared."""
    if not declared.own.any():
        return result
    choice = declared.choice.reshape(declared.choice.shape + (1,) * (result.ndim - 3))
    if name == "lse":  # of a mean it may be anything
        choice = np.where(np.isneginf(result) | (choice == "uniform"), "open", choice)
    elif not declared.problem.M:
        choice = np.where(result == 0, "open", choice)  # of no keys at all, zero will do
    return by_default(result, choice, DEFAULTS[name], lambda: declared.row(name))


def by_default(result: Array, choice: Array, default: ArrayLike, mean: Callable[[], Pair]) -> Array:
    """A result with `default` in idle rows, once they are what was chosen.

    choice: as `said` has it, broadcastable to the result. mean: what a row that is a mean
    should be. Raises Violation: what was returned, and what was declared.
    """
    wrong = np.argwhere((choice == "nan") & ~np.isnan(result))
    if len(wrong):
        index = tuple(int(x) for x in wrong[0])
        got = float(result[index])
        raise Violation(f"at {index}: got {got:.9g}, want nan", Place(index, got, np.nan, 0.0))
    if (choice == "uniform").any():
        want, within = mean()
        equal(np.where(choice == "uniform", result, want), want, within=within)
    return np.where(np.isin(choice, OWN), default, result)


def _differentiated(ask: Ask, declared: Declared) -> dict[str, Array]:
    """The gradients as if idle rows had the default. Raises Violation: not those of a mean.

    That of the definition stands where nothing can be judged.
    """
    p, mean = declared.problem, declared.uniform[..., None]
    if np.where(mean, p.dout, 0).any():
        for name, x in ask(p).items():
            want, within = declared.gradient(name)
            equal(np.where(declared.unjudged(name), want, x), want, within=within)
        p = p.but(dout=np.where(mean, 0, p.dout))
    found = dict(ask(p))
    if declared.poisoned.any():
        right = Declared(finite(p), {"fully-masked": "zero", "fully-masked-bias": "zero"})
        for name, x in found.items():
            found[name] = np.where(declared.unjudged(name), right.gradient(name)[0], x)
    return found


def finite(problem: Problem) -> Problem:
    """The problem with numbers only where they are read."""
    if np.isfinite(problem.k).all() and np.isfinite(problem.v).all():
        return problem
    k, v = (np.where(np.isfinite(x), x, 0.0) for x in (problem.k, problem.v))
    return problem.but(k=k, v=v)  # zero times infinity is not zero
