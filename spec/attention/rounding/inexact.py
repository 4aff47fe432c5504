"""Inputs that are themselves results, and so are near the numbers of the problem.

In a layer, queries, keys and values are projections, and the cotangent of attention
is a product with the output weights. Attention receives q + dq with |dq| no
more than an error bound, and every bound grows by the possible effects:

    score     |scale| (B_q |k| + |q| B_k + B_q B_k)            exactly, term by term
    output    sum_j a_ij B_v, and values of at most |v| + B_v
    da        B_dout |v| + |dout| B_v + B_dout B_v
    dq        |scale| sum_j (|ds| + B_ds) B_k                  dk likewise with B_q
    dv        sum_i a_ij B_dout

to which the roundings of sums add as before, over terms of at most the larger size.

A layer that leaves out a part of all keys, as the bias of their projection, moves every
score of a query alike. That cancels, in the softmax and in dq, whose ds sum to zero; but sums
then run over keys of at most |k| + |common|, and scores are of at most |s| + |scale| |q| |common|.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cache

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import allowed
from spec.attention.rounding.units import entered
from spec.notation import Array, once


@dataclass(frozen=True, eq=False)
class Inexact:
    """How far each input may be from the number that the problem has; shaped like it.

    common: what all keys of a head have in common, and may be without.   (1, G, 1, D)
    """

    q: Array
    k: Array
    v: Array
    dout: Array
    common: Array = field(default_factory=lambda: np.zeros(1))

    @staticmethod
    @cache
    def nothing() -> Inexact:
        """Inputs that are what they are."""
        return Inexact(*(np.zeros(1) for _ in fields(Inexact)))

    def entered(self, problem: Problem) -> Inexact:
        """The same as they enter products, for which a matrix unit may shorten them (`units`)."""
        rules = allowed(problem)
        if not rules.u_factor:
            return self
        found = {n: (getattr(problem, n), getattr(self, n)) for n in ("q", "k", "v", "dout")}
        return replace(self, **{n: entered(x, B, rules) for n, (x, B) in found.items()})

    def of_heads(self, name: str, problem: Problem) -> Array | float:
        """The budget of k or v, or what is common, once for every query head; 0 if none."""
        budget: Array = getattr(self, name)
        return definition.shared(budget, problem.H) if budget.ndim == 4 else 0.0

    @once
    def any(self) -> bool:
        """Whether some input is inexact at all."""
        return any(getattr(self, field.name).any() for field in fields(self))
